//! A terminal for the binary to draw on.

use crate::project::Project;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::{File, OpenOptions};
use std::io::Read as _;
use std::os::unix::ffi::OsStringExt as _;
use std::process::Stdio;

/// What was drawn on stderr, and what came on stdout, while the command ran on a terminal of 100 columns.
pub(crate) fn draw(project: &Project, arguments: &[&str]) -> (String, String) {
    show(project, arguments, Data::Apart)
}

/// What a person sees: both on one terminal.
pub(crate) fn read(project: &Project, arguments: &[&str]) -> String {
    show(project, arguments, Data::OnScreen).0
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Data {
    Apart,
    OnScreen,
}

fn show(project: &Project, arguments: &[&str], data: Data) -> (String, String) {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let path = std::ffi::OsString::from_vec(ptsname(&terminal, Vec::new()).unwrap().into_bytes());
    let screen = OpenOptions::new().read(true).write(true).open(path).unwrap();
    tcsetwinsize(&screen, Winsize { ws_row: 40, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    let mut command = project.command(arguments);
    let stdout = if data == Data::Apart { Stdio::piped() } else { screen.try_clone().unwrap().into() };
    command.env("TERM", "xterm").stdout(stdout).stderr(screen);
    let child = command.spawn().unwrap();
    // The last copy of the screen on this side: reading ends when the process lets go of its own.
    drop(command);
    let mut drawn = Vec::new();
    // A terminal that nobody writes to any more gives an error in place of an end.
    _ = File::from(terminal).read_to_end(&mut drawn);
    let output = child.wait_with_output().unwrap();
    (String::from_utf8(drawn).unwrap(), String::from_utf8(output.stdout).unwrap())
}
