//! Harnesses that keep an agent in Markdown with front matter.

mod declared;
mod fixtures;
mod imports;
mod losses;
mod names;
mod project;
mod round_trip;
mod tools;
