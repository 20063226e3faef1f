// Written by `go test ./app -run TestTypeScript -update` from the table of methods
// and the entry bodies; do not edit by hand.

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

export interface Output {
  stream?: string;
  text?: string;
  mime?: string;
  blob?: string;
  plain?: string;
}

export interface Delta {
  chat: string;
  turn: string;
  call?: string;
  kind: 'text' | 'code' | 'stdout' | 'stderr' | 'display';
  text?: string;
  output?: Output;
}

export interface Fault {
  code: string;
  title: string;
  hint?: string;
  detail?: string;
}

export interface TurnState {
  chat: string;
  turn: string;
  phase: 'queued' | 'load' | 'prompt' | 'answer' | 'approve' | 'run' | 'done';
  done?: number;
  model?: string;
  context?: number;
  used?: number;
  fault?: Fault;
}

export interface Call {
  id: string;
  language: string;
  code: string;
}

export interface FileChange {
  path: string;
  kind: 'created' | 'changed' | 'deleted' | 'folder';
  size: number;
  was: number;
  diff?: string;
  own: boolean;
  runs?: string;
}

export interface Need {
  effect:
    'delete' | 'overwrite' | 'network' | 'outside' | 'install' | 'long' | 'runs-later' | 'code';
  what: string;
  why: string;
}

export interface Effects {
  changes: FileChange[];
  more: number;
  bytes: number;
  procs: number;
  hosts: string[];
  seconds: number;
  error?: string;
  needs: Need[];
}

export interface Ask {
  id: string;
  chat: string;
  turn: string;
  call: Call;
  reasons: string[];
  open: boolean;
  stage: 'before' | 'after';
  canPreview: boolean;
  previewed: boolean;
  effects?: Effects;
  needs: Need[];
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

export interface ChatPolicy {
  preset: 'sealed' | 'offline-project' | 'network';
  project?: string;
  hosts?: string[];
  gpu?: boolean;
}

export interface Chat {
  id: string;
  title: string;
  created: string;
  updated: string;
  leaf: string;
  model: string;
  approve: 'ask' | 'auto' | 'never';
  policy?: ChatPolicy;
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

export interface File {
  name: string;
  path?: string;
  size: number;
  blob?: string;
  mime?: string;
  card?: string;
  summary?: string;
}

export interface User {
  text: string;
  files?: File[];
  place?: string;
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
  rejected?: string;
  unsupported?: string[];
}

export interface Decision {
  call: string;
  allow: boolean;
  by: string;
  note?: string;
  code?: string;
  stage?: string;
  needs?: string[];
}

export interface ProgramError {
  name: string;
  message: string;
  line?: number;
  trace: string;
  hint?: string;
}

export interface Denial {
  kind: 'file' | 'network' | 'call' | 'limit';
  what: string;
  layer: string;
  count: number;
}

export interface RunUsage {
  wall: number;
  cpu: number;
  memory: number;
  procs: number;
  written: number;
  sent: number;
  received: number;
  hosts: string[];
}

export interface FileHash {
  name: string;
  sha256: string;
  size: number;
}

export interface Receipt {
  preset: string;
  level: string;
  layers: string[];
  denials: Denial[];
  usage: RunUsage;
  exit: string;
  inputs: FileHash[];
  outputs: FileHash[];
  explained: string[];
}

export interface Result {
  call: string;
  status: string;
  outputs?: Output[];
  error?: ProgramError;
  note?: string;
  files?: File[];
  digest?: string;
  seconds: number;
  log?: string;
  cut?: number;
  receipt?: Receipt;
}

export interface Table {
  columns: string[];
  types: string[];
  index: any[];
  rows: any[][];
  shape: number[];
}

export type Empty = Record<string, never>;

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
  fetched?: number;
}

export interface Loaded {
  ref: string;
  context: number;
  contextTrain: number;
  device: string;
}

export interface Guarantee {
  name: string;
  holds: boolean;
  detail?: string;
  fix?: string;
}

export interface Level {
  name: 'full' | 'reduced' | 'none';
  guarantees: Guarantee[];
}

export interface PythonView {
  ok: boolean;
  version: string;
  packages: string[];
  problem?: string;
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
  loaded: Loaded | null;
  sandbox: Level;
  python: PythonView;
  examples: Example[];
}

export interface Remember {
  scope: 'chat' | 'project';
  hours?: number;
}

export interface Answer {
  ask: string;
  allow: boolean;
  note?: string;
  code?: string;
  always?: boolean;
  remember?: Remember;
}

export interface Attach {
  id: string;
  paths: string[];
}

export interface Attached extends File {
  problem?: string;
}

export interface Verdicts {
  files: Attached[];
}

export interface Create {
  model?: string;
  approve?: string;
}

export interface ChatID {
  id: string;
}

export interface ChatView {
  chat: Chat;
  entries: Entry[];
  turn?: TurnState;
  asks: Ask[];
  live: Delta[];
  seq: number;
}

export interface List {
  chats: Chat[];
}

export interface AskRef {
  ask: string;
}

export interface Rename {
  id: string;
  title: string;
}

export interface Send {
  id: string;
  text: string;
  files?: File[];
}

export interface Sent {
  turn: string;
}

export interface Set {
  id: string;
  model?: string;
  approve?: string;
}

export interface GrantsOf {
  chat?: string;
}

export interface Grant {
  id: string;
  effect: string;
  what: string;
  scope: 'chat' | 'project';
  where: string;
  at: string;
  until?: string;
}

export interface Grants {
  grants: Grant[];
}

export interface GrantRef {
  id: string;
}

export interface Rows {
  models: ModelRow[];
}

export interface ModelRef {
  ref: string;
}

export interface TaskRef {
  task: string;
}

export interface SetPolicy {
  chat: string;
  policy: ChatPolicy;
}

export interface Place {
  path: string;
  why: 'file' | 'work' | 'project' | 'python' | 'grant';
}

export interface NetworkView {
  mode: 'off' | 'loopback' | 'hosts' | 'on';
  hosts: string[];
}

export interface LimitsView {
  memory: number;
  fileSize: number;
  disk: number;
  procs: number;
  files: number;
  output: number;
  wall: number;
  cpu: number;
}

export interface PolicyView {
  policy: ChatPolicy;
  read: Place[];
  write: Place[];
  protected: string[];
  network: NetworkView;
  limits: LimitsView;
  env: string[];
  languages: string[];
  gpu: boolean;
  level: 'full' | 'reduced' | 'none';
  lacks: Guarantee[];
  grants: Grant[];
  restarted: boolean;
}

export interface PolicyOf {
  chat?: string;
  policy?: ChatPolicy;
}

export interface Attempt {
  group: string;
  name: string;
  plain: string;
  result: 'stopped' | 'escaped' | 'absent';
  layer: string;
  note: string;
  proven: boolean;
}

export interface TestReport {
  level: string;
  seconds: number;
  attempts: Attempt[];
  escaped: number;
  stopped: number;
  absent: number;
  unproven: number;
}

/** Every method: what goes in and what comes out. */
export interface Methods {
  /** tells about the program and the machine */
  'app.status': { in: Empty; out: Status };
  /** answers an approval question */
  'chats.answer': { in: Answer; out: Empty };
  /** attaches files by path and returns a verdict for each */
  'chats.attach': { in: Attach; out: Verdicts };
  /** starts an empty chat */
  'chats.create': { in: Create; out: Chat };
  /** deletes a chat with its files */
  'chats.delete': { in: ChatID; out: Empty };
  /** returns a chat with its entries and what runs in it */
  'chats.get': { in: ChatID; out: ChatView };
  /** lists the chats, newest first */
  'chats.list': { in: Empty; out: List };
  /** runs the code of a question in a layer and tells its effects */
  'chats.preview': { in: AskRef; out: Empty };
  /** changes a chat's title */
  'chats.rename': { in: Rename; out: Chat };
  /** keeps a prompt and starts to answer it */
  'chats.send': { in: Send; out: Sent };
  /** changes a chat's model or approval mode */
  'chats.set': { in: Set; out: Chat };
  /** stops what runs in a chat */
  'chats.stop': { in: ChatID; out: Empty };
  /** lists what was allowed for longer than once */
  'grants.list': { in: GrantsOf; out: Grants };
  /** takes back what was allowed */
  'grants.revoke': { in: GrantRef; out: Empty };
  /** lists the models of the catalog and of the models folder */
  'models.list': { in: Empty; out: Rows };
  /** loads a model into memory */
  'models.load': { in: ModelRef; out: Empty };
  /** fetches a model of the catalog */
  'models.pull': { in: ModelRef; out: TaskRef };
  /** changes the boundary of a chat */
  'policy.set': { in: SetPolicy; out: PolicyView };
  /** tells the boundary of a chat */
  'policy.show': { in: PolicyOf; out: PolicyView };
  /** makes hostile attempts on this machine and tells what became of them */
  'sandbox.test': { in: Empty; out: TestReport };
}
