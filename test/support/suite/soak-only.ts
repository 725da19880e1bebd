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

/**
 * Scenarios over real processes whose parts other tests show each time, with what shows them. Of
 * these files `make test` runs a quarter, chosen by the hash of the commit; a soak runs all.
 */
export const rotatingFiles: Readonly<Record<string, string>> = {
  'test/e2e/add-a-kind.test.ts': 'the kinds of the product in test/contract',
  'test/e2e/agent-sessions.test.ts': 'test/api/call-links.test.ts, access-task-rules.test.ts',
  'test/e2e/archive-round-trip.test.ts': 'test/api/archive.test.ts, test/contract/archive.test.ts',
  'test/e2e/audit-outage.test.ts':
    'test/contract/audit-refusal-spool.test.ts, audit-read-journal.test.ts',
  'test/e2e/audit-sinks.test.ts': 'test/contract/audit-verify.test.ts, test/api/audit.test.ts',
  'test/e2e/certification.test.ts': 'test/api/release-certification.test.ts',
  'test/e2e/console-conditions.test.ts': 'console.test.ts',
  'test/e2e/console-operations.test.ts': 'console.test.ts, test/api of each action',
  'test/e2e/console-rights.test.ts': 'console.test.ts, test/api/isolation-matrix.test.ts',
  'test/e2e/console-zones.test.ts': 'console/src/browser/zone-time.test.ts, console.test.ts',
  'test/e2e/doctor.test.ts': 'test/api/onboarding-report.test.ts',
  'test/e2e/events.test.ts': 'test/api/events.test.ts',
  'test/e2e/feedback-page.test.ts': 'test/api/feedback-browser.test.ts',
  'test/e2e/first-minutes.test.ts': 'test/api/sample-run.test.ts, all-role.test.ts',
  'test/e2e/incident-event-rule.test.ts': 'test/contract/incident-events.test.ts',
  'test/e2e/incidents.test.ts':
    'test/api/incidents.test.ts, test/contract/incident-kinds-service.test.ts',
  'test/e2e/judge.test.ts': 'test/api/judge.test.ts',
  'test/e2e/kills-hot-window.test.ts': 'test/contract/hot-window.test.ts',
  'test/e2e/onboarding.test.ts': 'test/api/onboarding-scenario.test.ts, onboarding-report.test.ts',
  'test/e2e/operator-restore.test.ts': 'test/contract/upgrade.test.ts, project-grants.test.ts',
  'test/e2e/rules-apply.test.ts': 'src/cli/rules, test/api/incident-rules.test.ts',
  'test/e2e/start-refused.test.ts': 'all-role.test.ts: an impossible start',
  'test/e2e/start-stopped.test.ts': 'all-role.test.ts: Ctrl-C',
  'test/e2e/store-routing.test.ts':
    'test/api/store-routing.test.ts, test/contract/hot-window.test.ts',
  'test/e2e/terminal.test.ts': 'all-role.test.ts: the first start',
  'test/e2e/verification.test.ts':
    'test/api/verification-routes.test.ts, test/contract/verification-runs.test.ts',
  'test/e2e/write-a-detector.test.ts': 'src/capabilities/detection/detectors/index.test.ts',
}
