import { goals, type OperatorFacts, type OperatorRow } from './facts.ts'

/** The section of the page about the operator. */
export function operatorSection({ rows }: OperatorFacts): string {
  const heads = rows.map(({ policies }) => policies.toLocaleString('en-US'))
  return [
    'RetentionPolicies, one for each project, of a service and an API server on the same machine. The first sync begins with new policies and ends when all are Ready; another process then begins with policies that are in sync. Steady: nothing changes, every policy is compared every ten minutes, the Lease is renewed.',
    '',
    `| policies | ${heads.join(' | ')} | goal at 1,000 |`,
    `|---|${rows.map(() => '---|').join('')}---|`,
    ...figures.map(
      ([name, of, goal = '–']) => `| ${name} | ${rows.map(of).join(' | ')} | ${goal} |`,
    ),
    '',
  ].join('\n')
}

const mib = 1024 * 1024
const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`
const memory = (bytes: number) => `${Math.round(bytes / mib)} MiB`
const count = (value: number) => value.toLocaleString('en-US')

const figures: readonly [string, (row: OperatorRow) => string, string?][] = [
  ['first sync', (row) => seconds(row.first_sync_ms), `≤ ${seconds(goals.first_sync_ms)}`],
  ['… requests to the API server', (row) => count(row.first_kube_requests)],
  ['… requests to the service', (row) => count(row.first_service_requests)],
  ['sync of another process', (row) => seconds(row.again_sync_ms)],
  ['… requests to the API server', (row) => count(row.again_kube_requests)],
  [
    'steady: requests/s to the API server',
    ({ steady }) => steady.kube_requests_per_s.toFixed(2),
    `≤ ${goals.kube_requests_per_s}`,
  ],
  ['steady: requests/s to the service', ({ steady }) => steady.service_requests_per_s.toFixed(2)],
  [
    'steady: processor',
    ({ steady }) => `${steady.cpu_millicores.toFixed(0)} m`,
    `≤ ${goals.cpu_millicores} m`,
  ],
  [
    'steady: memory',
    ({ steady }) => memory(steady.resident_bytes),
    `≤ ${memory(goals.resident_bytes)}`,
  ],
  ['peak memory', (row) => memory(row.peak_bytes)],
  ['apply → service, p50', (row) => `${row.apply_p50_ms.toFixed(0)} ms`],
  [
    'apply → service, p95',
    (row) => `${row.apply_p95_ms.toFixed(0)} ms`,
    `≤ ${goals.apply_p95_ms} ms`,
  ],
]
