//! Servers on the network whose answers have no end.

use crate::stage::Stage;
use entourage_model::ServerAddress;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// Answers a call with this head and then with words that never end, and everything else in order.
async fn serve(head: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer(stream, head));
        }
    });
    url
}

async fn answer(stream: TcpStream, head: &str) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let (mut line, mut length) = (String::new(), 0);
    while stream.read_line(&mut line).await? > 2 {
        let lower = line.to_ascii_lowercase();
        length = lower.strip_prefix("content-length:").map_or(length, |text| text.trim().parse().unwrap());
        line.clear();
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
    let result = match asked["method"].as_str() {
        Some("initialize") => json!({
            "protocolVersion": "2025-06-18", "capabilities": { "tools": {} },
            "serverInfo": { "name": "endless", "version": "1" },
        }),
        Some("tools/list") => json!({ "tools": [{ "name": "huge", "inputSchema": { "type": "object" } }] }),
        Some("tools/call") => {
            stream.write_all(head.as_bytes()).await?;
            loop {
                stream.write_all(&[b'x'; 64 << 10]).await?;
            }
        }
        Some("server/discover") => {
            return stream.write_all(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\nno").await;
        }
        _ => return stream.write_all(b"HTTP/1.1 202 Accepted\r\nConnection: close\r\nContent-Length: 0\r\n\r\n").await,
    };
    let text = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result }).to_string();
    let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/json\r\n\r\n";
    stream.write_all(format!("{head}{text}").as_bytes()).await
}

#[tokio::test]
async fn an_answer_without_end_ends_the_call() {
    for head in [
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n{\"jsonrpc\":\"",
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\ndata: ",
        "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n\"",
    ] {
        let address = ServerAddress::Url { url: serve(head).await, headers: BTreeMap::new() };
        let stage = Stage::at(TempDir::new().unwrap(), address, |settings| settings.message_bytes_max = 1 << 20);
        let text = stage.failed("mcp__sly__huge", "{}").await;
        assert!(text.starts_with("The MCP server `sly` gave no answer"), "{head:?}: {text}");
        assert!(!text.contains("rmcp::"), "{head:?}: {text}");
    }
}
