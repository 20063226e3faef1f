// Types of the page's contract with the host. Bodies of entries follow
// storage/bodies.go. Written by `go generate ./app/api`; do not edit by hand.

export type Approve = 'ask' | 'auto' | 'never';

export interface Chat {
  id: string;
  title: string;
  created: string;
  updated: string;
  leaf: string;
  model: string;
  approve: Approve;
}

export interface Entry {
  seq: number;
  id: string;
  parent?: string;
  chat: string;
  at: string;
  kind: string;
  body: any;
  blobs?: string[];
}

export interface File {
  name: string;
  path?: string;
  size: number;
  blob?: string;
  mime?: string;
  card?: string;
}

export interface Attached extends File {
  problem?: string;
}

export interface User {
  text: string;
  files?: File[];
}

export interface Call {
  id: string;
  language: string;
  code: string;
}

export interface Usage {
  prompt: number;
  cached: number;
  output: number;
  seconds: number;
}

export interface Assistant {
  text?: string;
  calls?: Call[];
  model?: string;
  harness?: string;
  stop?: string;
  usage: Usage;
  interrupted?: boolean;
}

export interface Decision {
  call: string;
  allow: boolean;
  by: string;
  note?: string;
  code?: string;
}

export interface Output {
  stream?: string;
  text?: string;
  mime?: string;
  blob?: string;
  plain?: string;
}

export interface ProgramError {
  name: string;
  message: string;
  line?: number;
  trace: string;
  hint?: string;
}

export interface Result {
  call: string;
  status: string;
  outputs?: Output[];
  error?: ProgramError;
  note?: string;
  files?: File[];
  seconds: number;
  log?: string;
  cut?: number;
}

export interface Fault {
  code: string;
  title: string;
  hint?: string;
  detail?: string;
}

export interface Delta {
  chat: string;
  turn: string;
  call?: string;
  kind: 'text' | 'code' | 'stdout' | 'stderr' | 'display';
  text?: string;
  output?: Output;
}

export type Phase = 'queued' | 'load' | 'prompt' | 'answer' | 'approve' | 'run' | 'done';

export interface TurnState {
  chat: string;
  turn: string;
  phase: Phase;
  done?: number;
  model?: string;
  context?: number;
  used?: number;
}

export interface Ask {
  id: string;
  chat: string;
  turn: string;
  call: Call;
  reasons: string[];
  open: boolean;
}

export interface Task {
  id: string;
  label: string;
  done: number;
  total: number;
  unit: 'bytes' | 'steps';
  state: 'running' | 'done' | 'failed';
  error?: Fault;
}

export interface Event {
  seq?: number;
  entry?: Entry;
  delta?: Delta;
  turn?: TurnState;
  ask?: Ask;
  task?: Task;
  chat?: Chat;
  gone?: string;
}

export interface ModelRow {
  ref: string;
  name: string;
  installed: boolean;
  default: boolean;
  size: number;
  context: number;
  license: string;
  note?: string;
  problem?: string;
  path?: string;
}

export interface Guarantee {
  name: string;
  holds: boolean;
  detail?: string;
  fix?: string;
}

export interface Example {
  title: string;
  prompt: string;
  file: string;
}

export interface Status {
  version: string;
  home: string;
  model: ModelRow | null;
  loaded: { ref: string; context: number; contextTrain: number; device: string } | null;
  sandbox: { name: 'full' | 'reduced' | 'none'; guarantees: Guarantee[] };
  python: { ok: boolean; version: string; packages: string[]; problem?: string; fix?: string };
  examples: Example[];
}

export interface ChatView {
  chat: Chat;
  entries: Entry[];
  turn?: TurnState;
  asks: Ask[];
  live: Delta[];
  seq: number;
}

type Empty = Record<string, never>;

/** Every method: what goes in and what comes out. */
export interface Methods {
  'app.status': { in: Empty; out: Status };
  'chats.list': { in: Empty; out: { chats: Chat[] } };
  'chats.create': { in: { model?: string; approve?: string }; out: Chat };
  'chats.get': { in: { id: string }; out: ChatView };
  'chats.rename': { in: { id: string; title: string }; out: Chat };
  'chats.delete': { in: { id: string }; out: Empty };
  'chats.set': { in: { id: string; model?: string; approve?: string }; out: Chat };
  'chats.attach': { in: { id: string; paths: string[] }; out: { files: Attached[] } };
  'chats.send': { in: { id: string; text: string; files: File[] }; out: { turn: string } };
  'chats.stop': { in: { id: string }; out: Empty };
  'chats.answer': {
    in: { ask: string; allow: boolean; note?: string; code?: string; always?: boolean };
    out: Empty;
  };
  'models.list': { in: Empty; out: { models: ModelRow[] } };
  'models.pull': { in: { ref: string }; out: { task: string } };
  'models.load': { in: { ref: string }; out: Empty };
}
