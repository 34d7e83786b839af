//! The named sets of tools through which a model drives children.

pub(crate) mod standard;
