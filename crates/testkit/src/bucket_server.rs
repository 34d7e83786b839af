//! A server of buckets on loopback that nobody here wrote: `moto`, which `cargo x setup` installs among Python's packages.
//! It speaks like S3, and checks who signed a request and what that one may do. It forgets everything when it ends.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub const BUCKET: &str = "bucket";
const START: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(50);
/// What is asked until everybody must sign: the two users with their rights and keys, and the bucket.
const UNSIGNED: &str = "7";
/// Says to which of its services a request goes; nobody looks at the signature yet.
const TO_USERS: &str = "Authorization: AWS4-HMAC-SHA256 Credential=x/20200101/us-east-1/iam/aws4_request, \
                        SignedHeaders=host, Signature=x\r\nContent-Type: application/x-www-form-urlencoded\r\n";

/// By what somebody is known.
#[derive(Clone, Debug)]
pub struct Credentials {
    pub key: String,
    pub secret: String,
}

/// A running server with one bucket. Dropping it ends it.
#[derive(Debug)]
pub struct BucketServer {
    process: Child,
    port: u16,
    /// Who may read and write objects.
    pub writer: Credentials,
    /// Who may only read them.
    pub reader: Credentials,
}

impl BucketServer {
    /// Fails with the name of what is missing if it is not installed.
    pub fn start() -> Self {
        let door = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port of loopback is free");
        let port = door.local_addr().expect("it has an address").port();
        drop(door);
        let mut command = program("moto_server");
        command.args(["-H", "127.0.0.1", "-p", &port.to_string()]).env("INITIAL_NO_AUTH_ACTION_COUNT", UNSIGNED);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let process = command.spawn().expect("the server starts");
        let begin = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            assert!(begin.elapsed() < START, "the server of buckets answers within {START:?}");
            std::thread::sleep(PAUSE);
        }
        let (writer, reader) = (user(port, "writer", "s3:*"), user(port, "reader", "s3:GetObject"));
        ask(port, &format!("PUT /{BUCKET}"), "", "");
        Self { process, port, writer, reader }
    }

    /// Host and port.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// What the environment of somebody says who goes there, through whatever listens on this port.
    pub fn variables(&self, who: &Credentials, port: u16) -> Vec<(String, String)> {
        let pairs = [
            ("AWS_ACCESS_KEY_ID", who.key.clone()),
            ("AWS_SECRET_ACCESS_KEY", who.secret.clone()),
            ("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{port}")),
            ("AWS_ALLOW_HTTP", "true".to_owned()),
            ("AWS_REGION", "us-east-1".to_owned()),
        ];
        pairs.map(|(name, value)| (name.to_owned(), value)).into()
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// The names of all objects, as a client sees them that nobody here wrote either.
    pub fn names(&self) -> Vec<String> {
        let listed = self.script("for o in s3.list_objects_v2(Bucket='bucket').get('Contents', []): print(o['Key'])");
        listed.lines().map(str::to_owned).collect()
    }

    /// Writes something else where an object lies.
    pub fn spoil(&self, name: &str) {
        self.script(&format!("s3.put_object(Bucket='bucket', Key='{name}', Body=b'spoilt')"));
    }

    pub fn remove(&self, name: &str) {
        self.script(&format!("s3.delete_object(Bucket='bucket', Key='{name}')"));
    }

    fn script(&self, code: &str) -> String {
        let mut command = program("python");
        command.args(["-c", &format!("import boto3\ns3 = boto3.client('s3')\n{code}")]).stdin(Stdio::null());
        let output = command.envs(self.variables(&self.writer, self.port)).output().expect("Python runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

impl Drop for BucketServer {
    fn drop(&mut self) {
        // One that has ended already is as good.
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

/// Makes a user who may do this to every object.
fn user(port: u16, name: &str, action: &str) -> Credentials {
    let rights = format!(
        r#"{{"Version":"2012-10-17","Statement":[{{"Effect":"Allow","Action":["{action}"],"Resource":"*"}}]}}"#
    );
    let form = |action: &str, more: &str| format!("Action={action}&Version=2010-05-08&UserName={name}{more}");
    let rights = form("PutUserPolicy", &format!("&PolicyName=rights&PolicyDocument={}", escape(&rights)));
    ask(port, "POST /", TO_USERS, &form("CreateUser", ""));
    ask(port, "POST /", TO_USERS, &rights);
    let answer = ask(port, "POST /", TO_USERS, &form("CreateAccessKey", ""));
    let part = |tag: &str| {
        let (_, rest) = answer.split_once(&format!("<{tag}>")).expect("it says what it has made");
        rest.split('<').next().unwrap_or_default().to_owned()
    };
    Credentials { key: part("AccessKeyId"), secret: part("SecretAccessKey") }
}

fn escape(text: &str) -> String {
    let letter = |byte: u8| if byte.is_ascii_alphanumeric() { char::from(byte).into() } else { format!("%{byte:02X}") };
    text.bytes().map(letter).collect()
}

/// One request, answered well.
fn ask(port: u16, what: &str, headers: &str, body: &str) -> String {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("the server answers");
    let length = body.len();
    write!(
        stream,
        "{what} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n{headers}Content-Length: {length}\r\n\r\n{body}"
    )
    .expect("the server listens");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("the server answers in text");
    assert!(answer.split(' ').nth(1) == Some("200"), "{what}: {answer}");
    answer
}

#[expect(clippy::disallowed_methods, reason = "the one place where tests start a server of buckets")]
fn program(name: &str) -> Command {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/python/bin").join(name);
    assert!(path.exists(), "`cargo x setup` has not been run: there is no {}", path.display());
    let mut command = Command::new(path);
    // What the caller's environment says of another server is not meant for this one.
    for name in ["AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"] {
        command.env_remove(name);
    }
    command
}
