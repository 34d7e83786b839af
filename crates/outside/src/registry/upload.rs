//! One blob on its way to a registry: taken over from another repository there, sent whole, or in pieces.

use super::Registry;
use super::fetch::short_name;
use super::push::Freight;
use super::trouble::Trouble;
use super::watch::Watch;
use super::wire::{Action, Wire};
use bytes::Bytes;
use entourage_bundle::{BlobReader, Descriptor, Fault};
use futures::Stream;
use reqwest::header::{CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, LOCATION};
use reqwest::{Body, Client, Response, StatusCode, Url};
use std::io::{self, Read as _};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;

/// How much of a file is in memory while a blob is sent whole.
const READ_BYTES: usize = 128 << 10;
const OCTETS: &str = "application/octet-stream";
/// How a registry says that it wants no smaller pieces.
const PIECE_MIN: &str = "oci-chunk-min-length";

/// What became of an upload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sending {
    Done,
    /// The registry, or whoever stands before it, takes no body of this length.
    TooLarge,
}

/// What a registry answers to whoever wants to send a blob.
enum Begun {
    /// It has it now, from another repository.
    Mounted,
    At {
        place: Url,
        piece_bytes_min: u64,
    },
}

impl Registry {
    /// Sends a blob that the registry does not have.
    pub(super) async fn push_blob(&self, wire: &Wire, freight: Freight<'_>, blob: &Descriptor) -> Result<(), Fault> {
        self.settings
            .patience
            .persist(async || {
                self.settings.watch.begins(short_name(blob), blob.size);
                if self.is_there(wire, blob).await? {
                    return Ok(());
                }
                loop {
                    match self.send_blob(wire, freight, blob).await? {
                        Sending::Done => return Ok(()),
                        Sending::TooLarge if wire.shorten_bodies(blob.size) => {
                            self.settings.watch.begins(short_name(blob), blob.size);
                        }
                        Sending::TooLarge => {
                            return Err(Trouble::odd(&wire.host, "takes no body that is long enough for a blob"));
                        }
                    }
                }
            })
            .await?;
        self.settings.watch.ends();
        Ok(())
    }

    async fn is_there(&self, wire: &Wire, blob: &Descriptor) -> Result<bool, Trouble> {
        let url = wire.at(&format!("blobs/{}", blob.digest))?;
        let response = wire.send(Action::Push, |client| client.head(url.clone())).await?;
        match response.status() {
            StatusCode::OK => Ok(true),
            StatusCode::NOT_FOUND => Ok(false),
            _ => Err(Trouble::of_status(&wire.host, response).await),
        }
    }

    async fn send_blob(&self, wire: &Wire, freight: Freight<'_>, blob: &Descriptor) -> Result<Sending, Trouble> {
        let (place, piece_bytes_min) = match self.begin_upload(wire, freight, blob).await? {
            Begun::Mounted => return Ok(Sending::Done),
            Begun::At { place, piece_bytes_min } => (place, piece_bytes_min),
        };
        match wire.body_bytes_max() {
            Some(max) if max < blob.size => {
                self.send_pieces(wire, freight, blob, (place, max.max(piece_bytes_min))).await
            }
            Some(_) | None => self.send_whole(wire, freight, blob, place).await,
        }
    }

    /// Where the registry wants to have the blob. One that another repository of it holds may be taken over.
    async fn begin_upload(&self, wire: &Wire, freight: Freight<'_>, blob: &Descriptor) -> Result<Begun, Trouble> {
        let start =
            |url: Url| wire.send(Action::Push, move |client| client.post(url.clone()).header(CONTENT_LENGTH, 0));
        let plain = wire.at("blobs/uploads/")?;
        let answer = match freight.elsewhere.get(&blob.digest) {
            None => start(plain).await?,
            Some(repository) => {
                let mut url = plain.clone();
                let (digest, from) = (blob.digest.to_string(), repository.as_str());
                url.query_pairs_mut().append_pair("mount", &digest).append_pair("from", from);
                match start(url).await {
                    Ok(answer) if answer.status() == StatusCode::CREATED => return Ok(Begun::Mounted),
                    Ok(answer) if answer.status() == StatusCode::ACCEPTED => answer,
                    // It was only a wish: whoever may not read there can still send it.
                    Ok(_) | Err(_) => start(plain).await?,
                }
            }
        };
        if answer.status() != StatusCode::ACCEPTED {
            return Err(Trouble::of_status(&wire.host, answer).await);
        }
        let piece_bytes_min = answer.headers().get(PIECE_MIN).and_then(|value| value.to_str().ok()?.parse().ok());
        Ok(Begun::At { place: location(wire, &answer)?, piece_bytes_min: piece_bytes_min.unwrap_or_default() })
    }

    async fn send_whole(
        &self,
        wire: &Wire,
        freight: Freight<'_>,
        blob: &Descriptor,
        mut place: Url,
    ) -> Result<Sending, Trouble> {
        place.query_pairs_mut().append_pair("digest", &blob.digest.to_string());
        // Opened once for each time that the request is made: the second follows when the registry asks who we are.
        let spoiled: Arc<Mutex<Option<Fault>>> = Arc::default();
        let progress = Progress { watch: Arc::clone(&self.settings.watch), pulse: Arc::default() };
        let make = |client: &Client| {
            let request = client.put(place.clone()).header(CONTENT_TYPE, OCTETS);
            match freight.blobs.open(blob) {
                Ok(reader) => {
                    let pieces = pieces(reader, progress.clone(), Arc::clone(&spoiled));
                    request.header(CONTENT_LENGTH, blob.size).body(Body::wrap_stream(pieces))
                }
                Err(fault) => {
                    spoil(&spoiled, fault);
                    request.body(Body::wrap_stream(futures::stream::once(async { Err::<Bytes, _>(unsound()) })))
                }
            }
        };
        let sent = wire.upload(&progress.pulse, make).await;
        if let Some(fault) = spoiled.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(fault.into());
        }
        ended(wire, sent?).await
    }

    /// One piece after the other, each in memory. What turns out not to be what it was is never told to be complete.
    async fn send_pieces(
        &self,
        wire: &Wire,
        freight: Freight<'_>,
        blob: &Descriptor,
        (mut place, piece_bytes): (Url, u64),
    ) -> Result<Sending, Trouble> {
        let mut reader = freight.blobs.open(blob)?;
        let mut start = 0;
        while start < blob.size {
            let length = piece_bytes.min(blob.size - start);
            let mut piece = Vec::new();
            let read = (&mut reader).take(length).read_to_end(&mut piece);
            read.map_err(|cause| Fault::Machine { doing: "reading a blob".to_owned(), cause })?;
            if piece.len() as u64 != length {
                break;
            }
            let (piece, range) = (Bytes::from(piece), format!("{start}-{}", start + length - 1));
            let pulse: Arc<Notify> = Arc::default();
            let make = |client: &Client| {
                let request = client.patch(place.clone()).header(CONTENT_TYPE, OCTETS).header(CONTENT_RANGE, &range);
                request
                    .header(CONTENT_LENGTH, length)
                    .body(Body::wrap_stream(slices(piece.clone(), Arc::clone(&pulse))))
            };
            let answer = wire.upload(&pulse, make).await?;
            match answer.status() {
                StatusCode::ACCEPTED | StatusCode::NO_CONTENT | StatusCode::OK => {}
                StatusCode::PAYLOAD_TOO_LARGE => return Ok(Sending::TooLarge),
                _ => return Err(Trouble::of_status(&wire.host, answer).await),
            }
            place = location(wire, &answer)?;
            start += length;
            self.settings.watch.moved(length);
        }
        reader.finish()?;
        place.query_pairs_mut().append_pair("digest", &blob.digest.to_string());
        let make = |client: &Client| client.put(place.clone()).header(CONTENT_LENGTH, 0);
        ended(wire, wire.send(Action::Push, make).await?).await
    }
}

async fn ended(wire: &Wire, answer: Response) -> Result<Sending, Trouble> {
    match answer.status() {
        StatusCode::CREATED | StatusCode::NO_CONTENT | StatusCode::OK => Ok(Sending::Done),
        StatusCode::PAYLOAD_TOO_LARGE => Ok(Sending::TooLarge),
        _ => Err(Trouble::of_status(&wire.host, answer).await),
    }
}

/// Where the upload goes on.
fn location(wire: &Wire, answer: &Response) -> Result<Url, Trouble> {
    let location = answer.headers().get(LOCATION).and_then(|value| value.to_str().ok());
    let location = location.ok_or_else(|| Trouble::odd(&wire.host, "takes an upload, and does not say where"))?;
    wire.join(location)
}

/// Who is told that something moves.
#[derive(Clone)]
struct Progress {
    watch: Arc<dyn Watch>,
    pulse: Arc<Notify>,
}

/// A body that is in memory, so that one sees how much of it was taken.
fn slices(mut body: Bytes, pulse: Arc<Notify>) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
    let slices = std::iter::from_fn(move || {
        pulse.notify_one();
        (!body.is_empty()).then(|| Ok(body.split_to(READ_BYTES.min(body.len()))))
    });
    futures::stream::iter(slices)
}

/// The blob in pieces. What turns out not to be what it was ends the request before the registry has all of it.
fn pieces(
    reader: BlobReader,
    progress: Progress,
    spoiled: Arc<Mutex<Option<Fault>>>,
) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
    futures::stream::try_unfold(Some(reader), move |reader| {
        let (progress, spoiled) = (progress.clone(), Arc::clone(&spoiled));
        async move {
            let Some(mut reader) = reader else { return Ok(None) };
            let mut piece = vec![0; READ_BYTES];
            let count = reader.read(&mut piece)?;
            if count > 0 {
                piece.truncate(count);
                progress.watch.moved(count as u64);
                progress.pulse.notify_one();
                return Ok(Some((Bytes::from(piece), Some(reader))));
            }
            match reader.finish() {
                Ok(()) => Ok(None),
                Err(fault) => {
                    spoil(&spoiled, fault);
                    Err(unsound())
                }
            }
        }
    })
}

fn spoil(spoiled: &Mutex<Option<Fault>>, fault: Fault) {
    *spoiled.lock().unwrap_or_else(PoisonError::into_inner) = Some(fault);
}

fn unsound() -> io::Error {
    io::Error::other("the blob is not what it was")
}
