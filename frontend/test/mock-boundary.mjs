// The boundary as the mock host tells it: policies, effects, receipts, hostile attempts.
import { createHash } from 'node:crypto';

const HOME = '/home/ada/.local/share/atoll';
const hash = (name) => createHash('sha256').update(name).digest('hex');

/** What holds in a chat under a policy, as policy.show answers it. */
export function policyView(chat, policy, level, grants) {
  const project = policy.preset === 'offline-project' ? policy.project : '';
  const network = policy.preset === 'network';
  return {
    policy,
    read: [
      { path: `${HOME}/chats/${chat || 'new'}/files/sales.csv`, why: 'file' },
      { path: '/usr/lib/python3.12', why: 'python' },
      { path: `${HOME}/python/site`, why: 'python' },
    ],
    write: [
      { path: `${HOME}/chats/${chat || 'new'}/work`, why: 'work' },
      ...(project ? [{ path: project, why: 'project' }] : []),
    ],
    protected: project
      ? ['.git/hooks', '.git/config', '.vscode/tasks.json', '.envrc', 'sitecustomize.py'].map(
          (name) => `${project}/${name}`,
        )
      : [],
    network: { mode: network ? 'hosts' : 'off', hosts: policy.hosts ?? [] },
    limits: {
      memory: 4 * 2 ** 30,
      fileSize: 2 * 2 ** 30,
      disk: 8 * 2 ** 30,
      procs: 256,
      files: 1024,
      output: -1,
      wall: 600,
      cpu: 0,
    },
    env: ['HOME', 'LANG', 'PATH', 'TMPDIR'],
    languages: ['python'],
    gpu: Boolean(policy.gpu),
    level,
    lacks:
      level === 'full'
        ? []
        : [
            {
              name: 'Names of other files are hidden',
              holds: false,
              detail: 'Names, sizes and times of files outside can be seen, not what is in them.',
              fix: 'Allow user namespaces: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0',
            },
          ],
    grants,
    restarted: false,
  };
}

/** The record of a run. */
export function receipt({ preset, level, denials = [], explained = [], files = [], exit = '' }) {
  return {
    preset,
    level,
    layers: level === 'full' ? ['namespaces', 'landlock 7', 'seccomp'] : ['landlock 7', 'seccomp'],
    denials,
    usage: {
      wall: 1.2,
      cpu: 0.9,
      memory: 84_000_000,
      procs: 3,
      written: files.reduce((sum, file) => sum + file.size, 0),
      sent: 0,
      received: 0,
      hosts: [],
    },
    exit,
    inputs: [
      { name: 'sales.csv', sha256: hash('sales.csv'), size: 48_213 },
      { name: 'archive.tar', sha256: '', size: 9_412_000_000 },
    ],
    outputs: files.map(({ name, size }) => ({ name, sha256: hash(name), size })),
    explained,
  };
}

export const REFUSED = {
  denials: [
    { kind: 'network', what: 'pypi.org:443', layer: 'network', count: 3 },
    { kind: 'file', what: '/home/ada/.ssh/id_ed25519', layer: 'mounts', count: 1 },
  ],
  explained: [
    'Network is off in this chat: pypi.org was not reached.',
    '/home/ada/.ssh/id_ed25519 does not exist for the code.',
  ],
};

const NEED_DELETE = {
  effect: 'delete',
  what: 'data/sales-2019.csv',
  why: 'The file was in the project before this chat began.',
};

const DIFF = `--- a/report.md
+++ b/report.md
@@ -1,9 +1,16 @@
 # Sales
 
-Revenue was added up by hand.
-It may be wrong.
+Revenue by region, 2025:
+
${['North', 'West', 'South', 'East'].map((r, i) => `+- ${r}: ${488_100 - i * 70_000}`).join('\n')}
+
+Left out: two rows without a region.
 
 ## Sources
 
 sales.csv, as exported on 2 January
+Added up by Atoll.
 
 ## To do
 
 Ask for the missing regions
`;

/** Effects of the script's cells, by name. */
export const EFFECTS = {
  changes: {
    changes: [
      { path: 'data/sales-2019.csv', kind: 'deleted', size: 0, was: 48_213 },
      { path: 'report.md', kind: 'changed', size: 512, was: 301, diff: DIFF },
      { path: 'summary.xlsx', kind: 'created', size: 18_433, was: 0 },
      { path: 'charts', kind: 'folder', size: 0, was: 0 },
    ],
    more: 0,
    bytes: 18_945,
    procs: 2,
    hosts: [],
    seconds: 1.8,
    needs: [NEED_DELETE],
  },
  hostile: {
    changes: [
      { path: 'invoice\u202Efdp.exe', kind: 'created', size: 12, was: 0 },
      {
        path: 'line\nbreak\r\n<img src=x onerror="window.hit=1">.txt',
        kind: 'created',
        size: 9,
        was: 0,
      },
      { path: '数据/二〇二五年销售报告（最终版）.xlsx', kind: 'changed', size: 2048, was: 1024 },
      {
        path: `очень/длинный/путь/${'продажи-по-регионам-'.repeat(14)}итог.csv`,
        kind: 'created',
        size: 1,
        was: 0,
      },
      {
        path: '.vscode/tasks.json',
        kind: 'created',
        size: 90,
        was: 0,
        diff: '--- /dev/null\n+++ b/.vscode/tasks.json\n@@ -0,0 +1 @@\n+{"command": "curl \u202Emoc.live\u202C <b>x</b>"}\n',
        runs: 'The editor runs it when the folder is opened.',
      },
    ],
    more: 212,
    bytes: 3_150,
    procs: 300,
    hosts: ['пример.рф:443', 'evil.example\u202Emoc:80'],
    seconds: 12.5,
    error: 'PermissionError: [Errno 13] Permission denied',
    needs: [
      {
        effect: 'runs-later',
        what: '.vscode/tasks.json',
        why: 'The editor runs it when the folder is opened.',
      },
      { effect: 'network', what: 'evil.example\u202Emoc:80', why: 'Network is off in this chat.' },
    ],
  },
};

const GROUPS = {
  files: ['reads the home folder', 'follows a link to ~/.ssh', 'renames a file out of its folder'],
  network: ['connects to a server on this computer', 'asks a name server', 'opens a raw socket'],
  processes: ['signals another program', 'reads the memory of another program'],
  kernel: ['uses io_uring', 'makes a namespace of its own', 'loads a bpf program'],
};
const LAYERS = {
  files: 'mounts',
  network: 'namespaces',
  processes: 'namespaces',
  kernel: 'seccomp',
};

/** What a test of the sandbox found; "weak" lets one attempt succeed. */
export function report(level, weak) {
  const attempts = Object.entries(GROUPS).flatMap(([group, names]) =>
    names.map((plain) => ({
      group,
      name: plain.replace(/\W+/g, '_'),
      plain: `Code ${plain}.`,
      result: 'stopped',
      layer: LAYERS[group],
      note: '',
    })),
  );
  attempts[attempts.length - 1] = {
    ...attempts.at(-1),
    result: 'absent',
    layer: '',
    note: 'This kernel has no bpf.',
  };
  if (weak)
    attempts[4] = { ...attempts[4], result: 'escaped', layer: '', note: 'answered: 192.0.2.1' };
  const number = (result) => attempts.filter((attempt) => attempt.result === result).length;
  return {
    level,
    seconds: 14.2,
    attempts,
    escaped: number('escaped'),
    stopped: number('stopped'),
    absent: number('absent'),
  };
}

/** Pieces of code with effects: under "after" they run first and then ask. */
export const BOUNDARY_CELLS = [
  {
    when: /changes/,
    say: 'I write the report and remove the old export.',
    reasons: ['Deletes data/sales-2019.csv'],
    effects: EFFECTS.changes,
    code: `from pathlib import Path

Path("data/sales-2019.csv").unlink()
Path("report.md").write_text(report)
summary.to_excel("summary.xlsx")
print("report written")
`,
    outputs: () => [{ stream: 'stdout', text: 'report written\n' }],
  },
  {
    when: /hostile/,
    say: 'Some names.',
    reasons: [],
    effects: EFFECTS.hostile,
    code: 'open("invoice\\u202efdp.exe", "w").write("x")\n',
    outputs: () => [],
    files: (host) => [
      { name: 'invoice\u202Efdp.exe', size: 12, mime: 'text/plain', blob: host.blob('x') },
      { name: 'line\nbreak <img src=x onerror="window.hit=1">.txt', size: 9, blob: host.blob('y') },
    ],
  },
  {
    when: /refused/,
    say: 'I look whether there is a newer version.',
    reasons: [],
    code: 'import urllib.request\nurllib.request.urlopen("https://pypi.org/")\n',
    outputs: () => [],
    error: {
      name: 'URLError',
      message: '<urlopen error [Errno 101] Network is unreachable>',
      line: 2,
      trace: 'Traceback (most recent call last):\n  cell 1, line 2\nURLError: unreachable',
    },
    refused: REFUSED,
  },
];
