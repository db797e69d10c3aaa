#!/bin/sh
# Shows xmd prompt from the request to the file, without an account and a network: the
# agent is a scripted one, and the two questions are answered from answers.txt. Run it
# with make run, which builds bin/xmd first.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$(dirname "$here")")
desk=$(mktemp -d)
trap 'rm -rf "$desk"' EXIT
trap 'exit 130' INT TERM

(cd "$root" && "${GO:-go}" build -o "$desk/review" ./examples/review)
sed -e "s|@XMD@|$root/bin/xmd|" -e "s|@HERE@|$here|" "$here/agents.yaml" >"$desk/agents.yaml"
chmod 600 "$desk/agents.yaml"
mkdir "$desk/work"
cd "$desk/work"
HOME=$desk XDG_DATA_HOME=$desk/data XMD_AGENTS_FILE=$desk/agents.yaml
export HOME XDG_DATA_HOME XMD_AGENTS_FILE

echo '$ xmd prompt "ask me for my age and write the result to a file"'
"$desk/review" -answers "$here/answers.txt" -- \
	"$root/bin/xmd" prompt --ask web "ask me for my age and write the result to a file"
echo
echo '$ cat age.txt'
cat age.txt
