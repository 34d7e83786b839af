//! What a server's tool gave, as our models read it: texts as they are, everything else as files of the thread.

use crate::tool::{Call, Output};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use entourage_model::ToolStatus;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};

const NOTHING: &str = "(no output)";

pub(super) async fn output(result: CallToolResult, call: &Call) -> Output {
    let mut parts = Vec::new();
    for block in &result.content {
        parts.push(part(block, call).await);
    }
    // A server that has structured content repeats it as text, unless it has no text at all.
    if !result.content.iter().any(|block| matches!(block, ContentBlock::Text(_)))
        && let Some(structured) = &result.structured_content
    {
        parts.push(serde_json::to_string_pretty(structured).unwrap_or_else(|_| structured.to_string()));
    }
    parts.retain(|part| !part.is_empty());
    let text = if parts.is_empty() { NOTHING.to_owned() } else { parts.join("\n\n") };
    let status = if result.is_error == Some(true) { ToolStatus::Error } else { ToolStatus::Success };
    Output { status, text, facts: Vec::new() }
}

async fn part(block: &ContentBlock, call: &Call) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => file(call, "image", "image", &image.mime_type, &image.data).await,
        ContentBlock::Audio(audio) => file(call, "recording", "audio", &audio.mime_type, &audio.data).await,
        ContentBlock::Resource(resource) => match &resource.resource {
            ResourceContents::TextResourceContents { uri, text, .. } => format!("[resource `{uri}`]\n{text}"),
            ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                let mime_type = mime_type.as_deref().unwrap_or("application/octet-stream");
                let name = uri.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or("resource");
                file(call, &format!("resource `{uri}`"), name, mime_type, blob).await
            }
            _ => "[a resource of a kind that is not known here]".to_owned(),
        },
        ContentBlock::ResourceLink(link) => {
            let about = link.description.as_deref().or(link.title.as_deref()).unwrap_or(&link.name);
            format!("[resource `{}`: {about}]", link.uri)
        }
        _ => "[content of a kind that is not known here]".to_owned(),
    }
}

/// Keeps the bytes as a file of the thread, and says where.
async fn file(call: &Call, what: &str, name: &str, mime_type: &str, data: &str) -> String {
    let Ok(bytes) = STANDARD.decode(data.trim()) else { return format!("[{what}: it cannot be decoded]") };
    let size = bytes.len();
    let ending = mime_type.rsplit('/').next().unwrap_or_default().split(['+', ';']).next().unwrap_or_default();
    let name = if name.contains('.') || ending.is_empty() { name.to_owned() } else { format!("{name}.{ending}") };
    let kept = match &call.attendant {
        Some(attendant) => attendant.keep(&name, bytes).await,
        None => None,
    };
    match kept {
        Some(path) => format!("[{what}: {mime_type}, {size} bytes, kept as `{path}`]"),
        None => format!("[{what}: {mime_type}, {size} bytes, not kept]"),
    }
}
