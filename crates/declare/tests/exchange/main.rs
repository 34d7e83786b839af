//! Other harnesses' files, in and out.

mod declared;
mod fixtures;
mod imports;
mod kit;
mod losses;
mod names;
mod project;
mod round_trip;
mod tools;
