/** Files of which every test runs only in a soak, each with its reason. */
export const soakOnlyFiles: Readonly<Record<string, string>> = {
  'test/e2e/audit-read-kills.test.ts':
    'audit-kills.test.ts kills the API while it answers reads, and expects a record of each.',
  'test/e2e/chart-cluster.test.ts':
    'Pods as processes: chart-install.test.ts installs the same charts on an API server, and cluster-shape.test.ts runs the roles.',
  'test/e2e/chart-embedded.test.ts':
    'A pod as processes, along the whole guide: chart-install.test.ts installs the chart, and all-role.test.ts runs the role.',
  'test/e2e/clients-cluster.test.ts':
    'The same clients as of role all, which make test runs; cluster-shape.test.ts calls each role.',
  'test/e2e/embedded-to-cluster.test.ts':
    'Two installations and the command between them: test/contract/move.test.ts kills a move at its steps, and compares the data.',
  'test/e2e/incident-kills.test.ts':
    'test/contract/incident-kills.test.ts kills an evaluator at its statements, and stops one past its lease.',
  'test/e2e/kills-single-machine.test.ts':
    'The same paths as in a cluster, which kills-cluster.test.ts kills once each in make test.',
  'test/e2e/stalled-clickhouse.test.ts':
    '288 MiB of spans, to tell bounded memory from growth; test/api/ingest-faults.test.ts shows a refused row.',
  'test/e2e/verification-kills.test.ts':
    'test/contract/verification-crashes.test.ts kills a run at its statements.',
}
