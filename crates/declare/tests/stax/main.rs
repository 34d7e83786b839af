//! stax projects: files in, agents and reports out.

mod faults;
mod project;
mod team;
