//! TLS by rustls, as far as the address asks for it.

use crate::refusal;
use entourage_store::StoreError;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::config::SslMode;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::{TlsConnector, client};

/// How much of the server's certificate is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Encryption {
    /// Nothing, as other clients of PostgreSQL do for `prefer` and `require`: it keeps out those who only listen.
    Unchecked,
    /// The name and the issuer: one that this machine trusts, or the ones in this file.
    Checked { root: Option<PathBuf> },
}

impl Encryption {
    /// What `sslmode` and `sslrootcert` mean.
    pub(crate) fn parse(mode: &str, root: Option<PathBuf>) -> Result<(SslMode, Self), StoreError> {
        match mode {
            "disable" => Ok((SslMode::Disable, Self::Unchecked)),
            "prefer" => Ok((SslMode::Prefer, Self::Unchecked)),
            "require" if root.is_none() => Ok((SslMode::Require, Self::Unchecked)),
            "require" | "verify-full" => Ok((SslMode::Require, Self::Checked { root })),
            _ => Err(refusal::address("`sslmode` is `disable`, `prefer`, `require` or `verify-full`")),
        }
    }

    pub(crate) fn connector(&self) -> Result<Tls, StoreError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let fault = |fault: &dyn std::fmt::Display| refusal::address(&format!("TLS cannot be set up: {fault}"));
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| fault(&error))?;
        let config = match self {
            Self::Unchecked => builder.dangerous().with_custom_certificate_verifier(Arc::new(Anyone(provider))),
            Self::Checked { root: Some(file) } => builder.with_root_certificates(roots(file)?),
            Self::Checked { root: None } => {
                let verifier = rustls_platform_verifier::Verifier::new(provider).map_err(|error| fault(&error))?;
                builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier))
            }
        };
        Ok(Tls(TlsConnector::from(Arc::new(config.with_no_client_auth()))))
    }
}

fn roots(file: &Path) -> Result<RootCertStore, StoreError> {
    let fault = |why: String| refusal::address(&format!("`sslrootcert` {}: {why}", file.display()));
    let certificates = CertificateDer::pem_file_iter(file).map_err(|error| fault(error.to_string()))?;
    let mut store = RootCertStore::empty();
    for certificate in certificates {
        let certificate = certificate.map_err(|error| fault(error.to_string()))?;
        store.add(certificate).map_err(|error| fault(error.to_string()))?;
    }
    if store.is_empty() { Err(fault("it holds no certificate".to_owned())) } else { Ok(store) }
}

/// Takes every certificate; only that its holder signs the handshake is checked.
#[derive(Debug)]
struct Anyone(Arc<CryptoProvider>);

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// Makes TLS connections for the driver.
#[derive(Clone)]
pub(crate) struct Tls(TlsConnector);

pub(crate) struct Handshake {
    connector: TlsConnector,
    name: ServerName<'static>,
}

pub(crate) struct Encrypted<S>(client::TlsStream<S>);

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> MakeTlsConnect<S> for Tls {
    type Stream = Encrypted<S>;
    type TlsConnect = Handshake;
    type Error = io::Error;

    fn make_tls_connect(&mut self, domain: &str) -> io::Result<Handshake> {
        // A socket in the file system has no name, and is never asked for TLS.
        let name = if domain.is_empty() { "localhost" } else { domain };
        let name = ServerName::try_from(name.to_owned()).map_err(io::Error::other)?;
        Ok(Handshake { connector: self.0.clone(), name })
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsConnect<S> for Handshake {
    type Stream = Encrypted<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move { self.connector.connect(self.name, stream).await.map(Encrypted) })
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Encrypted<S> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Encrypted<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Encrypted<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
