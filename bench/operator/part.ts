import { readFile } from 'node:fs/promises'
import { sleep } from '../../src/kernel/time.ts'
import { retentionPolicyKind } from '../../src/operator/kinds/retention-policy/index.ts'
import { eventually } from '../../test/support/eventually.ts'
import { readyOf, resourcesOf } from '../../test/support/kube/resources.ts'
import { usageOf } from '../process-usage.ts'
import { type BenchCluster, startBenchCluster } from './bench-cluster.ts'
import type { OperatorFacts, OperatorRow } from './facts.ts'

const applies = 100
/**
 * Contains many renewals of the Lease, some bookmarks, and comparisons of a fifth of all policies.
 */
const steady_s = 120
const sync_ms_max = 1_800_000
/** Concurrent creators of policies. */
const makers = 8

/** Measures operators with this many policies, and their delay in following changes. */
export async function measureOperator(sizes: readonly number[]): Promise<OperatorFacts> {
  const rows: OperatorRow[] = []
  for (const size of sizes) {
    const row = await measureSize(size)
    rows.push(row)
    console.log(row)
  }
  return { rows }
}

async function measureSize(policies: number): Promise<OperatorRow> {
  await using cluster = await startBenchCluster()
  const projects = await cluster.addProjects(policies)
  await makePolicies(cluster, projects)
  const first = await synced(cluster, () => areReady(cluster, policies))
  const first_peak_bytes = await peakOf(first.operator.pid)
  await first.operator.stop()
  const again = await synced(cluster, () => wereCompared(cluster, policies))
  const steady = await measureSteady(cluster, again.operator.pid)
  const times = await measureApplies(cluster, projects)
  const peak_bytes = Math.max(first_peak_bytes, await peakOf(again.operator.pid))
  await again.operator.stop()
  return {
    policies,
    first_sync_ms: first.sync_ms,
    first_kube_requests: first.kube_requests,
    first_service_requests: first.service_requests,
    again_sync_ms: again.sync_ms,
    again_kube_requests: again.kube_requests,
    steady,
    peak_bytes,
    apply_p50_ms: quantile(times, 0.5),
    apply_p95_ms: quantile(times, 0.95),
  }
}

function policyOf(project_id: string, days: number) {
  return { projectRef: { id: project_id }, traces: { days }, observations: { days } }
}

async function makePolicies({ server, namespace }: BenchCluster, projects: readonly string[]) {
  const resources = resourcesOf(server, retentionPolicyKind, namespace)
  await Promise.all(
    Array.from({ length: makers }, async (_, maker) => {
      for (let at = maker; at < projects.length; at += makers) {
        const { status, text } = await resources.apply(nameOf(at), policyOf(projects[at] ?? '', 30))
        if (status >= 300) throw new Error(text)
      }
    }),
  )
}

function nameOf(at: number): string {
  return `policy-${at}`
}

async function synced(cluster: BenchCluster, isSynced: () => Promise<boolean>) {
  const { kube, service } = cluster
  kube.requests.length = 0
  service.requests.length = 0
  const start = performance.now()
  const operator = await cluster.startOperator()
  const done = { timeout_ms: sync_ms_max, interval_ms: 200 }
  await eventually('all policies are in sync', isSynced, done)
  return {
    operator,
    sync_ms: performance.now() - start,
    kube_requests: kube.requests.length,
    service_requests: service.requests.length,
  }
}

/**
 * Reads past the gate, in one list; not too often, because listing all takes the API server a
 * while.
 */
async function areReady(cluster: BenchCluster, policies: number): Promise<boolean> {
  const { kube, server, namespace } = cluster
  const statuses = kube.requests.filter(({ path }) => path.includes('/status')).length
  if (statuses < policies) return false
  const path = resourcesOf(server, retentionPolicyKind, namespace).path()
  const { items } = await server.tell('GET', path)
  const ready = items.filter((item: unknown) => readyOf(item)?.status === 'True').length
  return ready === policies
}

/** Every project's policy was read. */
async function wereCompared({ service }: BenchCluster, policies: number): Promise<boolean> {
  const isRead = ({ path }: { path: string }) => path.includes('retention-policy')
  return service.requests.filter(isRead).length >= policies
}

async function measureSteady({ kube, service }: BenchCluster, pid: number) {
  // By then everything that follows a start is done.
  await sleep(10_000)
  kube.requests.length = 0
  service.requests.length = 0
  const before = await usageOf(pid)
  const start = performance.now()
  await sleep(steady_s * 1_000)
  const seconds = (performance.now() - start) / 1_000
  const after = await usageOf(pid)
  return {
    seconds,
    kube_requests_per_s: kube.requests.length / seconds,
    service_requests_per_s: service.requests.length / seconds,
    cpu_millicores: (after.cpu_ms - before.cpu_ms) / seconds,
    resident_bytes: after.resident_bytes,
  }
}

/** From sending an apply until the change is in the service's store. */
async function measureApplies(cluster: BenchCluster, projects: readonly string[]) {
  const resources = resourcesOf(cluster.server, retentionPolicyKind, cluster.namespace)
  const times: number[] = []
  for (let at = 0; at < applies; at += 1) {
    const project = projects[at] ?? ''
    const days = 31 + at
    const start = performance.now()
    await resources.apply(nameOf(at), policyOf(project, days))
    await eventually('the service has it', async () => (await cluster.daysOf(project)) === days)
    times.push(performance.now() - start)
  }
  return times.sort((a, b) => a - b)
}

/** Maximum resident memory as seen by the kernel. */
async function peakOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'latin1')
  return Number(/^VmHWM:\s*(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024
}

function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
}
