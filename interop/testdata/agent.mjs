// A small agent on the protocol's TypeScript library. It has no model: a message may
// hold any number of orders, written @order(argument), and the reply is one line for each,
// so that a test can have it do what a coding agent might. A line is a piece of Markdown
// in which nothing has an effect; only the order "document" writes an element.
import { appendFileSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";

const memory = join(process.env.XDG_STATE_HOME ?? join(process.env.HOME, ".local/state"), "small-agent");
const open = new Map(); // session id -> { created, loaded, cancel }
const late = process.argv.includes("--late"); // tells the history of a session after its answer to a load, as gemini-cli 0.61.0 does
let terms = {};

const file = (id) => join(memory, id + ".jsonl");
const remember = (id, entry) => appendFileSync(file(id), JSON.stringify(entry) + "\n");
const turns = (id) => readFileSync(file(id), "utf8").split("\n").filter((line) => line.includes('"turn"')).map(JSON.parse);
const code = (error) => error.code ?? error.name;
const attempt = (act) => {
  try {
    return `yes ${JSON.stringify(act())}`;
  } catch (error) {
    return `no ${code(error)}`;
  }
};

const orders = {
  wire: (_, s) => JSON.stringify({ initialize: terms, created: s.created, loaded: s.loaded }),
  where: () => JSON.stringify({ cwd: process.cwd(), entries: readdirSync(".") }),
  names: () => Object.keys(process.env).sort().join(" "),
  peek: (path) => attempt(() => readFileSync(path, "utf8")),
  leave: (path) => attempt(() => writeFileSync(path, "left by the agent")),
  count: (_, s) => `turn ${turns(s.id).length + 1}`,
  async ask(_, s, client) {
    const answer = await client.request(acp.methods.client.session.requestPermission, {
      sessionId: s.id,
      toolCall: { toolCallId: "t1", title: "Change a file", kind: "edit", status: "pending" },
      options: [
        { optionId: "yes", name: "Allow", kind: "allow_once" },
        { optionId: "no", name: "Reject", kind: "reject_once" },
      ],
    });
    return answer.outcome.optionId ?? answer.outcome.outcome;
  },
  async read(path, s, client) {
    try {
      const answer = await client.request(acp.methods.client.fs.readTextFile, { sessionId: s.id, path });
      return `read ${answer.content}`;
    } catch (error) {
      return `refused ${error.code}`;
    }
  },
  wait: (_, s, client, say) => say("waiting").then(() => new Promise((resolve) => (s.cancel = () => resolve("cancelled")))),
  document: () => "# A greeting\n\nThe greeting is kept in `greeting.txt`, one line.\n\n" +
    '<File path="greeting.txt">Hello from an agent nobody here wrote.</File>\n\nThat is all.',
};

async function prompt({ sessionId: id, prompt: blocks }, client) {
  const s = open.get(id);
  await s.told;
  const text = blocks.map((block) => block.text).join("");
  const say = (text) =>
    client.notify(acp.methods.client.session.update, {
      sessionId: id,
      update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text } },
    });
  let said = "";
  for (const [, order, argument] of text.matchAll(/@(\w+)\(([^)\s]*)\)/g)) {
    if (!orders[order]) continue;
    const came = await orders[order](argument, s, client, say);
    if (came === "cancelled") return { stopReason: "cancelled" };
    const line = `${said && "\n\n"}${order === "document" ? came : "`" + order + ": " + came + "`"}`;
    await say(line);
    said += line;
  }
  remember(id, { turn: said });
  return { stopReason: "end_turn" };
}

const agent = acp
  .agent({ name: "small-agent" })
  .onRequest(acp.methods.agent.initialize, ({ params }) => {
    terms = params;
    return {
      protocolVersion: acp.PROTOCOL_VERSION,
      agentInfo: { name: "small-agent", version: "1" },
      agentCapabilities: { loadSession: true, sessionCapabilities: { close: {} } },
    };
  })
  .onRequest(acp.methods.agent.session.new, ({ params }) => {
    const id = randomUUID();
    mkdirSync(memory, { recursive: true });
    remember(id, { created: params.cwd });
    open.set(id, { id, created: params });
    return { sessionId: id };
  })
  .onRequest(acp.methods.agent.session.load, async ({ params, client }) => {
    const id = params.sessionId;
    if (!existsSync(file(id))) throw acp.RequestError.resourceNotFound(id);
    const tell = async () => {
      for (const { turn } of turns(id))
        await client.notify(acp.methods.client.session.update, {
          sessionId: id,
          update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text: `again: ${turn}` } },
        });
    };
    const told = late ? new Promise((resolve) => setTimeout(resolve)).then(tell) : tell();
    open.set(id, { id, loaded: params, told });
    if (!late) await told;
    return {};
  })
  .onRequest(acp.methods.agent.session.close, ({ params }) => {
    remember(params.sessionId, { closed: true });
    open.delete(params.sessionId);
    return {};
  })
  .onRequest(acp.methods.agent.session.prompt, ({ params, client }) => prompt(params, client))
  .onNotification(acp.methods.agent.session.cancel, ({ params }) => open.get(params.sessionId)?.cancel?.());

agent.connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
