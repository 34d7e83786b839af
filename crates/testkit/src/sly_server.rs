//! An MCP server on standard input and output that does what a test tells it to do, also what no server should.
//!
//! It is a script for `sh`, so that a test needs no other program: `sh -c SCRIPT sly MODE LOG`. Every start leaves its
//! process id in the file LOG, and so does a call that was taken back, as `cancelled`.

/// The script. Modes: `mute` never answers, `garbage` writes what is no message first, `pages` has no last page of tools,
/// `dies` ends in its first call, `refuses` ends at once with a complaint.
pub const SCRIPT: &str = r#"
mode=$1 log=$2
note() { [ -z "$log" ] || echo "$1" >> "$log"; }
say() { printf '%s\n' "$1"; }
answer() { say '{"jsonrpc":"2.0","id":'"$id"',"result":'"$1"'}'; }
text() { answer '{"content":[{"type":"text","text":"'"$1"'"}]}'; }
tool() { printf '{"name":"%s","description":"%s","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}%s},"annotations":{%s}}' "$1" "$2" "$3" "$4"; }
note $$
extra=
case $mode in
  mute) exec sleep 600 ;;
  garbage) printf 'hello\n{"half": \n[]\n' ;;
  refuses) echo 'no licence found' >&2; exit 3 ;;
esac
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9][0-9]*\).*/\1/p')
  case $line in
    *'"method":"initialize"'*)
      answer '{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"sly","version":"1"}}' ;;
    *'"method":"tools/list"'*)
      next=
      [ "$mode" != pages ] || next=',"nextCursor":"more"'
      tools=$(tool echo 'Says it again.' ',"required":["text"]' '"readOnlyHint":true')
      tools="$tools,$(tool once 'Changes something.' '' '')"
      tools="$tools,$(tool again 'May be repeated.' '' '"idempotentHint":true')"
      tools="$tools,$(tool 'odd name/x' 'Has an odd name.' '' ''),$(tool 'odd.name x' 'Has another.' '' '')"
      for name in env fail picture structured huge hang grow $extra; do tools="$tools,$(tool $name "$name" '' '')"; done
      answer '{"tools":['"$tools"']'"$next"'}' ;;
    *'"method":"notifications/cancelled"'*) note cancelled ;;
    *'"method":"ping"'*) answer '{}' ;;
    *'"method":"tools/call"'*)
      case $mode in dies) [ -e "$log.died" ] || { : > "$log.died"; echo 'out of luck' >&2; exit 4; } ;; esac
      case $line in
        *'"name":"echo"'*) text "heard $(printf '%s' "$line" | sed 's/.*"text":"\([^"]*\)".*/\1/')" ;;
        *'"name":"once"'*) note once; text done ;;
        *'"name":"odd name/x"'*) text first ;;
        *'"name":"odd.name x"'*) text second ;;
        *'"name":"env"'*) text "$(pwd) $(env | grep -v -e ^PWD= -e ^SHLVL= -e ^OLDPWD= -e ^_= | sort | tr '\n' ' ')" ;;
        *'"name":"fail"'*) answer '{"isError":true,"content":[{"type":"text","text":"it did not work"}]}' ;;
        *'"name":"picture"'*) answer '{"content":[{"type":"text","text":"look"},{"type":"image","mimeType":"image/png","data":"aGVsbG8="}]}' ;;
        *'"name":"structured"'*) answer '{"content":[],"structuredContent":{"answer":42}}' ;;
        *'"name":"huge"'*) head -c 3000000 /dev/zero | tr '\0' 'x' ;;
        *'"name":"hang"'*) note hang ;;
        *'"name":"grow"'*) extra=grown; say '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'; text grown ;;
        *) text done ;;
      esac ;;
  esac
done
"#;

/// The arguments that have `sh` play it.
pub fn arguments(mode: &str, log: &str) -> Vec<String> {
    ["-c", SCRIPT, "sly", mode, log].map(str::to_owned).into()
}
