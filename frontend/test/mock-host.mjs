// A stand-in for the host that speaks the page's contract, for development and
// browser tests. What it answers is chosen by words in the question:
//   "figure" "table" "error" "files" "fault" "slow" "long" "progress", "echo …" to say
//   the rest, "changes" "hostile" "refused" for code that meets its boundary; else a plain answer.
// MOCK_MODELS=none starts without a model, MOCK_SANDBOX=reduced|none weakens the sandbox,
// MOCK_WEAK=1 lets an attempt of its test succeed.
import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { policyView, receipt, report } from './mock-boundary.mjs';
import { CELLS, CLOSING, LOREM, PLAIN } from './mock-cells.mjs';

const DIST = fileURLToPath(new URL('../dist/', import.meta.url));
const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' blob: data:; font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };

/** Starts a host; port 0 picks a free one. Resolves to { url, close, breakStreams }. */
export function startMock({
  port = 0,
  models = process.env.MOCK_MODELS,
  sandbox = process.env.MOCK_SANDBOX ?? 'full',
  weak = Boolean(process.env.MOCK_WEAK),
  pace = 1, // factor on all waits
} = {}) {
  const host = new Host({ models, sandbox, weak, pace });
  const server = createServer((request, response) => {
    host.serve(request, response).catch((cause) => {
      if (!response.headersSent) response.writeHead(500);
      response.end(JSON.stringify({ code: 'internal', title: String(cause) }));
    });
  });
  return new Promise((resolve) => {
    server.listen(port, '127.0.0.1', () => {
      resolve({
        host,
        url: `http://127.0.0.1:${server.address().port}`,
        breakStreams: () => host.breakStreams(),
        close: () => {
          host.breakStreams();
          server.closeAllConnections();
          return new Promise((done) => server.close(done));
        },
      });
    });
  });
}

class Host {
  chats = new Map(); // id to { chat, entries, turn, asks, live, abort }
  blobs = new Map();
  log = []; // every entry, in order
  streams = new Set();
  grants = [];
  tasks = 0;
  calls = 0;

  constructor(options) {
    this.options = options;
    const small = {
      ref: 'qwen2.5-coder-3b-q4',
      name: 'Qwen2.5 Coder 3B',
      size: 1_929_903_264,
      context: 32768,
      license: 'Qwen Research',
      note: 'Small and quick; good for tables',
    };
    const big = {
      ref: 'qwen3-8b-q4',
      name: 'Qwen3 8B',
      size: 5_027_783_488,
      context: 40960,
      license: 'Apache-2.0',
      note: 'Better answers, needs 8 GB of memory',
    };
    const none = options.models === 'none';
    this.models = [
      { ...small, installed: !none, default: true },
      { ...big, installed: false, default: false },
    ];
  }

  async serve(request, response) {
    const url = new URL(request.url, 'http://localhost');
    if (url.pathname.startsWith('/rpc/')) {
      const body = JSON.parse((await read(request)) || '{}');
      const method = this[url.pathname.slice(5).replace('.', '_')];
      if (!method) return reply(response, 404, { code: 'input.method', title: 'No such method' });
      try {
        return reply(response, 200, (await method.call(this, body)) ?? {});
      } catch (fault) {
        return reply(response, 400, { code: 'internal', title: String(fault), ...fault });
      }
    }
    if (url.pathname === '/events') return this.stream(url, request, response);
    if (url.pathname.startsWith('/blob/')) {
      const content = this.blobs.get(url.pathname.slice(6));
      if (!content) return reply(response, 404, { code: 'data.blob', title: 'No such content' });
      response.writeHead(200, { 'Content-Type': url.searchParams.get('type') ?? 'text/plain' });
      return response.end(content);
    }
    if (url.pathname === '/upload') {
      const content = await readBytes(request);
      const name = url.searchParams.get('name');
      return reply(response, 200, this.card(`/tmp/uploads/${name}`, content.length));
    }
    const path = normalize(url.pathname === '/' ? '/index.html' : url.pathname);
    try {
      const content = readFileSync(join(DIST, path));
      response.writeHead(200, {
        'Content-Type': TYPES[extname(path)] ?? 'application/octet-stream',
        'Content-Security-Policy': CSP,
        'Cache-Control': 'no-store',
      });
      response.end(content);
    } catch {
      reply(response, 404, { code: 'http.404', title: 'Not found' });
    }
  }

  stream(url, request, response) {
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    response.write(':\n\n');
    const since = Number(url.searchParams.get('since') ?? 0);
    const missed = this.log.slice(since).map((entry) => ({ seq: entry.seq, entry }));
    if (missed.length) response.write(`data: ${JSON.stringify(missed)}\n\n`);
    this.streams.add(response);
    request.on('close', () => this.streams.delete(response));
  }

  breakStreams() {
    for (const response of this.streams) response.destroy();
    this.streams.clear();
  }

  emit(...events) {
    const frame = `data: ${JSON.stringify(events)}\n\n`;
    for (const response of this.streams) response.write(frame);
  }

  wait(ms) {
    return new Promise((done) => setTimeout(done, ms * this.options.pace));
  }

  blob(content) {
    const hash = createHash('sha256').update(content).digest('hex');
    this.blobs.set(hash, content);
    return hash;
  }

  card(path, size) {
    const name = path.split('/').pop();
    if (/\.exe$/.test(name)) return { name, path, size, problem: 'Programs cannot be attached.' };
    return {
      name,
      path,
      size,
      mime: 'text/csv',
      card: `${name}: table, 1,240 rows × 6 columns\n\ndate      region  product  units  price   revenue\n2026-01-02  North   Lamp      12  19.90    238.80\n2026-01-02  South   Desk       3  149.00   447.00`,
    };
  }

  append(id, kind, body) {
    const room = this.chats.get(id);
    const last = room.entries.at(-1);
    const entry = {
      seq: this.log.length + 1,
      id: randomUUID(),
      parent: last?.id,
      chat: id,
      at: new Date().toISOString(),
      kind,
      body,
    };
    this.log.push(entry);
    room.entries.push(entry);
    room.chat = { ...room.chat, leaf: entry.id, updated: entry.at };
    this.emit({ seq: entry.seq, entry }, { chat: room.chat });
  }

  app_status() {
    const model = this.models.find((row) => row.installed) ?? null;
    const holds = this.options.sandbox === 'full';
    return {
      version: '0.1.0',
      home: '/home/ada/.local/share/atoll',
      model,
      loaded: model ? { ref: model.ref, context: 8192, contextTrain: 32768, device: 'CPU' } : null,
      sandbox: {
        name: this.options.sandbox,
        guarantees: [
          {
            name: 'No network',
            holds: this.options.sandbox !== 'none',
            detail: 'own network namespace',
          },
          {
            name: 'Files outside the chat cannot be changed',
            holds: this.options.sandbox !== 'none',
          },
          { name: 'System calls filtered', holds, fix: holds ? '' : 'Needs Linux 5.13 or newer.' },
          { name: 'Memory limit', holds: true, detail: '4 GB' },
        ],
      },
      python: { ok: true, version: '3.12.4', packages: ['pandas', 'numpy', 'matplotlib', 'scipy'] },
      examples: [
        {
          title: 'Sales by region',
          prompt: 'Which region grew fastest last year? Show me a table and a figure.',
          file: '/opt/atoll/examples/sales.csv',
        },
        {
          title: 'Clean a messy export',
          prompt:
            'This export has duplicates and mixed date formats. Clean it and tell me what you changed.',
          file: '/opt/atoll/examples/contacts.csv',
        },
        {
          title: 'What is in this log?',
          prompt: 'When do the errors happen, and which requests cause them?',
          file: '/opt/atoll/examples/server.log',
        },
      ],
    };
  }

  chats_list() {
    const list = [...this.chats.values()].map((room) => room.chat);
    return { chats: list.sort((a, b) => b.updated.localeCompare(a.updated)) };
  }

  chats_create({ model, approve, title = '', updated }) {
    const now = updated ?? new Date().toISOString();
    const chat = {
      id: randomUUID(),
      title,
      created: now,
      updated: now,
      leaf: '',
      model: model ?? this.models.find((row) => row.installed)?.ref ?? '',
      approve: approve ?? 'ask',
    };
    this.chats.set(chat.id, { chat, entries: [], asks: [], live: [] });
    this.emit({ chat });
    return chat;
  }

  room(id) {
    const room = this.chats.get(id);
    if (!room)
      throw { code: 'input.chat', title: 'This chat is gone', hint: 'Choose another one.' };
    return room;
  }

  chats_get({ id }) {
    const { chat, entries, turn, asks, live } = this.room(id);
    return { chat, entries, turn, asks: asks.map((a) => a.ask), live, seq: this.log.length };
  }

  chats_rename({ id, title }) {
    const room = this.room(id);
    room.chat = { ...room.chat, title };
    this.emit({ chat: room.chat });
    return room.chat;
  }

  chats_set({ id, model, approve }) {
    const room = this.room(id);
    room.chat = { ...room.chat, ...(model ? { model } : {}), ...(approve ? { approve } : {}) };
    this.emit({ chat: room.chat });
    return room.chat;
  }

  chats_delete({ id }) {
    this.room(id).stopped = true;
    this.chats.delete(id);
    this.emit({ gone: id });
  }

  chats_attach({ paths }) {
    return { files: paths.map((path) => this.card(path, 48_213)) };
  }

  chats_send({ id, text, files }) {
    const room = this.room(id);
    if (room.turn) throw { code: 'input.busy', title: 'This chat is still answering' };
    this.append(id, 'user', { text, files });
    if (!room.chat.title) this.chats_rename({ id, title: text.slice(0, 40) });
    const turn = randomUUID();
    room.stopped = false;
    void this.play(id, turn, text);
    return { turn };
  }

  chats_stop({ id }) {
    const room = this.room(id);
    room.stopped = true;
    for (const { ask, settle } of room.asks) {
      this.emit({ ask: { ...ask, open: false } });
      settle(null);
    }
    room.asks = [];
  }

  chats_answer(answer) {
    for (const room of this.chats.values()) {
      const found = room.asks.find(({ ask }) => ask.id === answer.ask);
      if (!found) continue;
      room.asks = room.asks.filter((other) => other !== found);
      this.emit({ ask: { ...found.ask, open: false } });
      if (answer.always) this.chats_set({ id: room.chat.id, approve: 'auto' });
      if (answer.allow && answer.remember) this.remember(room, found.ask, answer.remember);
      found.settle(answer);
      return {};
    }
    throw { code: 'input.ask', title: 'This question was already answered' };
  }

  remember(room, ask, { scope, hours }) {
    const now = Date.now();
    for (const { effect, what } of ask.effects?.needs ?? ask.needs) {
      if (effect === 'code') continue;
      this.grants.push({
        id: randomUUID(),
        effect,
        what,
        scope,
        where: scope === 'chat' ? room.chat.id : room.chat.policy.project,
        at: new Date(now).toISOString(),
        ...(hours ? { until: new Date(now + hours * 3_600_000).toISOString() } : {}),
      });
    }
  }

  async chats_preview({ ask }) {
    for (const room of this.chats.values()) {
      const found = room.asks.find((other) => other.ask.id === ask);
      if (!found) continue;
      await this.wait(2500);
      found.ask = { ...found.ask, effects: found.effects, previewed: true };
      if (room.asks.includes(found)) this.emit({ ask: found.ask });
      return {};
    }
    throw { code: 'input.ask', title: 'This question was already answered' };
  }

  policyOf(chat) {
    return this.chats.get(chat)?.chat.policy ?? { preset: 'sealed' };
  }

  grantsOf(chat) {
    const project = this.policyOf(chat).project;
    return this.grants.filter(
      ({ scope, where }) => !chat || where === (scope === 'chat' ? chat : project),
    );
  }

  policy_show({ chat }) {
    return policyView(chat, this.policyOf(chat), this.options.sandbox, this.grantsOf(chat));
  }

  policy_set({ chat, policy }) {
    const room = this.room(chat);
    if (policy.preset === 'offline-project' && /^\/(etc|usr)\b/.test(policy.project))
      throw {
        code: 'sandbox.policy',
        title: 'This folder cannot be a project',
        hint: 'Choose a folder of your own.',
      };
    room.chat = { ...room.chat, policy };
    this.emit({ chat: room.chat });
    return { ...this.policy_show({ chat }), restarted: room.entries.length > 0 };
  }

  grants_list({ chat }) {
    return { grants: this.grantsOf(chat) };
  }

  grants_revoke({ id }) {
    this.grants = this.grants.filter((grant) => grant.id !== id);
  }

  async sandbox_test() {
    const id = `task-${++this.tasks}`;
    const result = report(this.options.sandbox, this.options.weak);
    const total = result.attempts.length;
    for (let done = 0; done <= total; done++) {
      const state = done === total ? 'done' : 'running';
      const label = 'sandbox test';
      this.emit({ task: { id, label, done, total, unit: 'steps', state } });
      await this.wait(150);
    }
    return result;
  }

  models_list() {
    return { models: this.models };
  }

  models_pull({ ref }) {
    const id = `task-${++this.tasks}`;
    const row = this.models.find((model) => model.ref === ref);
    void (async () => {
      for (let i = 0; i <= 20; i++) {
        const done = Math.round((row.size * i) / 20);
        if (i === 20) row.installed = true;
        const state = i === 20 ? 'done' : 'running';
        this.emit({ task: { id, label: row.name, done, total: row.size, unit: 'bytes', state } });
        await this.wait(120);
      }
    })();
    return { task: id };
  }

  models_load() {}

  // --- the script -----------------------------------------------------------

  phase(id, turn, phase, more = {}) {
    const room = this.chats.get(id);
    if (!room) return;
    const state = {
      chat: id,
      turn,
      phase,
      model: room.chat.model,
      context: 8192,
      used: 812,
      ...more,
    };
    room.turn = phase === 'done' ? undefined : state;
    if (phase === 'done') room.live = [];
    this.emit({ turn: state });
  }

  delta(id, turn, delta) {
    const full = { chat: id, turn, ...delta };
    this.room(id).live.push(full);
    this.emit({ delta: full });
  }

  /** Streams words; false when stopped. */
  async say(id, turn, text, more = { kind: 'text' }) {
    const room = this.room(id);
    const pieces = text.match(/\s*\S+\s*/g) ?? [];
    let said = '';
    for (const piece of pieces) {
      if (room.stopped) return { said, whole: false };
      said += piece;
      this.delta(id, turn, { ...more, text: piece });
      await this.wait(18);
    }
    return { said, whole: true };
  }

  assistant(id, body) {
    const room = this.room(id);
    room.live = [];
    const usage = { prompt: 812, cached: 400, output: 187, seconds: 6.4 };
    this.append(id, 'assistant', { model: room.chat.model, stop: 'end', usage, ...body });
  }

  async play(id, turn, text) {
    const words = text.toLowerCase();
    try {
      for (const done of [0.1, 0.43, 0.8]) {
        this.phase(id, turn, 'load', { done });
        await this.wait(120);
      }
      for (const done of [0.3, 0.6, 1]) {
        this.phase(id, turn, 'prompt', { done });
        await this.wait(80);
      }
      if (/fault/.test(words)) {
        this.append(id, 'fault', {
          code: 'model.memory',
          title: 'The model did not fit into memory',
          hint: 'Close other programs or choose a smaller model.',
          detail: 'llama_init: failed to allocate 6442450944 bytes',
        });
        return;
      }
      this.phase(id, turn, 'answer');
      if (words.startsWith('echo ')) {
        const { said, whole } = await this.say(id, turn, text.slice(5));
        this.assistant(id, { text: said, interrupted: !whole });
        return;
      }
      if (/long|slow/.test(words)) {
        const prose = Array.from({ length: 60 }, (_, i) => `Paragraph ${i + 1}: ${LOREM}`).join(
          '\n\n',
        );
        const { said, whole } = await this.say(id, turn, prose);
        this.assistant(id, { text: said, interrupted: !whole });
        return;
      }
      const step = CELLS.filter((cell) => cell.when.test(words));
      for (const cell of step) {
        if (!(await this.cell(id, turn, cell))) return;
        this.phase(id, turn, 'prompt', { done: 0.5 });
        await this.wait(60);
        this.phase(id, turn, 'answer', { used: 1630 });
      }
      const { said, whole } = await this.say(id, turn, step.length ? CLOSING : PLAIN);
      this.assistant(id, { text: said, interrupted: !whole });
    } catch (cause) {
      if (this.chats.has(id)) throw cause; // deleted while it ran
    } finally {
      this.phase(id, turn, 'done');
    }
  }

  /** One piece of code: written, asked for, run. False when the turn was stopped. */
  async cell(id, turn, cell) {
    const room = this.room(id);
    const call = { id: `call-${++this.calls}`, language: 'python', code: cell.code };
    const prose = await this.say(id, turn, cell.say);
    const lines = cell.code.split(/(?<=\n)/);
    for (const line of lines) {
      if (room.stopped) break;
      this.delta(id, turn, { kind: 'code', call: call.id, text: line });
      await this.wait(30);
    }
    if (room.stopped) {
      this.assistant(id, { text: prose.said, interrupted: true });
      return false;
    }
    this.assistant(id, { text: cell.say, calls: [call], stop: 'calls' });
    let answer = { allow: room.chat.approve !== 'never', policy: true };
    const granted = (need) =>
      this.grantsOf(id).some(({ effect, what }) => effect === need.effect && what === need.what);
    const open = (cell.effects?.needs ?? []).filter((need) => !granted(need));
    const after = room.chat.approve === 'auto' && open.length > 0;
    if (after) {
      this.phase(id, turn, 'run');
      await this.wait(300);
    }
    if (room.chat.approve === 'ask' || after) {
      this.phase(id, turn, 'approve');
      answer = await new Promise((settle) => {
        const ask = {
          id: randomUUID(),
          chat: id,
          turn,
          call,
          reasons: cell.reasons ?? ['Reads sales.csv'],
          open: true,
          stage: after ? 'after' : 'before',
          canPreview: !after,
          previewed: false,
          needs: after ? open : [{ effect: 'code', what: '', why: 'Every piece of code asks.' }],
          ...(after ? { effects: { ...cell.effects, needs: open } } : {}),
        };
        room.asks.push({ ask, settle, effects: cell.effects ?? NO_EFFECTS });
        this.emit({ ask });
      });
    }
    if (!answer) {
      this.append(id, 'result', {
        call: call.id,
        status: 'interrupted',
        seconds: 0,
        note: 'Stopped before it ran.',
      });
      return false;
    }
    const edited = answer.code && answer.code !== call.code ? answer.code : undefined;
    this.append(id, 'decision', {
      call: call.id,
      allow: answer.allow,
      by: answer.policy ? 'policy' : 'person',
      note: answer.note,
      code: edited,
    });
    if (!answer.allow) {
      const ran = after && {
        seconds: 1.2,
        receipt: receipt({ preset: this.policyOf(id).preset, level: this.options.sandbox }),
      };
      this.append(id, 'result', { call: call.id, status: 'denied', seconds: 0, ...ran });
      return true;
    }
    this.phase(id, turn, 'run');
    const outputs = [];
    for (const output of cell.outputs(this, edited)) {
      if (room.stopped) break;
      const kind = output.stream ?? 'display';
      const last = outputs.at(-1);
      if (last?.stream && last.stream === output.stream) last.text += output.text;
      else outputs.push({ ...output });
      const told = output.stream ? { text: output.text } : { output };
      this.delta(id, turn, { kind, call: call.id, ...told });
      await this.wait(cell.pace ?? 200);
    }
    room.live = [];
    const files = cell.files?.(this);
    this.append(id, 'result', {
      call: call.id,
      status: room.stopped ? 'interrupted' : cell.error ? 'error' : 'ok',
      outputs,
      error: cell.error,
      files,
      seconds: 1.84,
      receipt: receipt({
        preset: this.policyOf(id).preset,
        level: this.options.sandbox,
        files,
        exit: room.stopped ? 'Stopped by you.' : '',
        ...cell.refused,
      }),
    });
    return !room.stopped;
  }
}

const NO_EFFECTS = { changes: [], more: 0, bytes: 0, procs: 1, hosts: [], seconds: 0.4, needs: [] };

function reply(response, status, body) {
  response.writeHead(status, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify(body));
}

async function readBytes(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts);
}

const read = async (request) => (await readBytes(request)).toString('utf8');

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { url } = await startMock({ port: Number(process.env.PORT ?? 5188) });
  console.log(url);
}
