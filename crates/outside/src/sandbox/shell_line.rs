//! The shell that runs a command, and the limits that it takes upon itself first.

use super::{Confinement, Plan};

pub(super) const SHELL: &str = "/bin/sh";

/// How many processes a command may have at once. Root is limited by nothing.
const PROCESSES_MAX: u32 = 1024;

/// The arguments of the shell.
///
/// It is the shell that sets the limits, as the last thing before the command: this program has more memory reserved
/// than a command may be allowed, and could not start another process under such a limit. A limit that cannot be set is
/// one that was lower before.
pub(super) fn arguments(plan: &Plan, command: &str) -> [String; 3] {
    let memory = plan.bytes_max / 1024;
    // What a process really asks for. Its address space is no measure: some reserve a hundred times what they use.
    let mut line = format!("ulimit -c 0 2>/dev/null; ulimit -d {memory} 2>/dev/null; ");
    let is_alone = match plan.confinement {
        Confinement::Bubblewrap { .. } => true,
        Confinement::Landlock { namespaces } => namespaces,
        Confinement::None => false,
    };
    if is_alone {
        // Elsewhere they would be counted together with everything else that the user runs. Shells differ in the letter.
        line.push_str(&format!("ulimit -u {PROCESSES_MAX} 2>/dev/null || ulimit -p {PROCESSES_MAX} 2>/dev/null; "));
    }
    line.push_str(&format!("exec {SHELL} -c \"$0\""));
    ["-c".to_owned(), line, command.to_owned()]
}
