//! Places for long blobs that an address can name: a folder that all nodes share, or a bucket.

#[cfg(feature = "s3")]
mod bucket;
mod folder;
mod objects;

use crate::blob::BlobPlace;
use crate::refusal;
use crate::settings::Options;
use entourage_store::StoreError;
use objects::Objects;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// What goes wrong is a refusal while a store is opened, and later a fault that may pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Opening,
    AtWork,
}

/// What `blobs=…` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PlaceAddress {
    Folder(PathBuf),
    Bucket { name: String, prefix: String },
}

impl PlaceAddress {
    /// What is refused is not repeated: it may hold a secret.
    pub(crate) fn parse(text: &str) -> Result<Self, StoreError> {
        let Some((scheme, rest)) = text.split_once("://") else {
            return Err(refusal::place_address("it is no address"));
        };
        match scheme {
            "file" if rest.starts_with('/') => Ok(Self::Folder(PathBuf::from(rest))),
            "file" => Err(refusal::place_address("a folder's path begins at the root: `file:///…`")),
            "s3" if rest.contains(['@', '?', '#']) => {
                let why = "a bucket's address holds no credentials and no options, they are read from the environment";
                Err(refusal::place_address(why))
            }
            "s3" => {
                let (name, prefix) = rest.split_once('/').unwrap_or((rest, ""));
                if name.is_empty() {
                    return Err(refusal::place_address("it names no bucket"));
                }
                Ok(Self::Bucket { name: name.to_owned(), prefix: prefix.trim_matches('/').to_owned() })
            }
            _ => Err(refusal::place_address("its kind is not known")),
        }
    }

    /// Nothing is written yet.
    pub(crate) async fn open(&self, options: &Options, stage: Stage) -> Result<Arc<dyn BlobPlace>, StoreError> {
        match self {
            Self::Folder(path) => {
                let objects = folder::open(path, stage).await.map_err(|fault| fault.told(&self.to_string(), stage))?;
                Ok(Arc::new(Objects::new(Arc::new(objects), "", self.to_string(), stage)))
            }
            Self::Bucket { name, prefix } => self.open_bucket(name, prefix, options, stage),
        }
    }

    #[cfg(feature = "s3")]
    fn open_bucket(
        &self,
        name: &str,
        prefix: &str,
        options: &Options,
        stage: Stage,
    ) -> Result<Arc<dyn BlobPlace>, StoreError> {
        let bucket = bucket::open(name, options, stage);
        let bucket = bucket.map_err(|fault| objects::Fault::of(&fault).told(&self.to_string(), stage))?;
        Ok(Arc::new(Objects::new(Arc::new(bucket), prefix, self.to_string(), stage)))
    }

    #[cfg(not(feature = "s3"))]
    fn open_bucket(
        &self,
        _name: &str,
        _prefix: &str,
        _options: &Options,
        _stage: Stage,
    ) -> Result<Arc<dyn BlobPlace>, StoreError> {
        Err(refusal::place_address("this program was built without the feature `s3`"))
    }
}

/// As it was given, for people.
impl fmt::Display for PlaceAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(path) => write!(f, "file://{}", path.display()),
            Self::Bucket { name, prefix } if prefix.is_empty() => write!(f, "s3://{name}"),
            Self::Bucket { name, prefix } => write!(f, "s3://{name}/{prefix}"),
        }
    }
}

/// Variables as a process has them, such as `AWS_REGION`. Some are secrets: nobody prints their values.
#[derive(Clone, Default)]
pub struct Variables(Vec<(String, String)>);

impl FromIterator<(String, String)> for Variables {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(pairs: I) -> Self {
        Self(pairs.into_iter().collect())
    }
}

impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_folder_or_a_bucket() {
        let bucket = |name: &str, prefix: &str| PlaceAddress::Bucket { name: name.into(), prefix: prefix.into() };
        let cases = [
            ("file:///mnt/a b", PlaceAddress::Folder("/mnt/a b".into()), "file:///mnt/a b"),
            ("s3://bucket", bucket("bucket", ""), "s3://bucket"),
            ("s3://bucket/", bucket("bucket", ""), "s3://bucket"),
            ("s3://bucket/a/b/", bucket("bucket", "a/b"), "s3://bucket/a/b"),
        ];
        for (text, expected, shown) in cases {
            let place = PlaceAddress::parse(text).expect("it can be read");
            assert_eq!((place.to_string().as_str(), place), (shown, expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_place_is_refused_and_not_repeated() {
        let cases =
            ["/mnt/secret", "file://secret/a", "gs://secret", "s3://", "s3://key:secret@bucket", "s3://b?k=secret"];
        for text in cases {
            let refused = PlaceAddress::parse(text).expect_err(text);
            assert!(matches!(&refused, StoreError::Refused(report) if report.code.0 == "S045"), "{text}: {refused:?}");
            assert!(!format!("{refused:?}").contains("secret"), "{refused:?}");
        }
    }

    #[test]
    fn variables_are_shown_by_their_names_alone() {
        let variables: Variables = [("AWS_SECRET_ACCESS_KEY".to_owned(), "hidden".to_owned())].into_iter().collect();
        assert_eq!(format!("{variables:?}"), "[\"AWS_SECRET_ACCESS_KEY\"]");
    }
}
