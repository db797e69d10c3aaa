// Runs a program and keeps what it reads and writes in two files of its home.
import { appendFileSync } from "node:fs";
import { spawn } from "node:child_process";
import { join } from "node:path";

const child = spawn(process.argv[2], process.argv.slice(3), { stdio: ["pipe", "pipe", "inherit"] });
const keep = (name) => (data) => appendFileSync(join(process.env.HOME, name), data);
process.stdin.on("data", keep("wire-in")).pipe(child.stdin);
child.stdout.on("data", keep("wire-out")).pipe(process.stdout);
child.stdin.on("error", () => {});
child.on("exit", (code, signal) => process.exit(code ?? 128));
process.on("SIGTERM", () => child.kill("SIGTERM"));
