import { BoundedCache } from '../../../kernel/bounded-cache.ts'
import { type Clock, sleep } from '../../../kernel/time.ts'
import type { CaptureTables, Kysely } from '../../../platform/relational/index.ts'
import type { Metrics } from '../../../platform/telemetry/index.ts'
import { runInProject } from '../../../platform/tenancy/index.ts'
import { compilePolicy, unknownPolicy } from './compile-policy.ts'
import type { CapturePolicy } from './contract.ts'
import { policyTable } from './store.ts'

export type CapturePoliciesOptions = {
  db: Kysely<CaptureTables>
  clock: Clock
  metrics: Metrics
  /** Age from which a policy is read again; the old one is used until then. */
  ttl_ms?: number
  /** Longest wait for the first read of a project's policy. */
  load_wait_ms?: number
  /** Wait after a failed read before the next one, for any project. */
  retry_ms?: number
  /** Most projects kept; the oldest reads are evicted first. */
  projects_max?: number
}

/** The cached policies of the edges of this process. */
export type CapturePolicies = {
  /**
   * Returns a project's policy: a cached one at once, even if it is old; a promise for a project
   * that was never read. It never rejects: for an unknown project during an outage of the store, it
   * returns a `metadata_only` policy and counts this.
   */
  policyOf(project_id: string): CapturePolicy | Promise<CapturePolicy>
  /** Forgets a project, so that its changed rules are read at the next use. */
  forget(project_id: string): void
}

/** Creates the cache of policies of a process. */
export function createCapturePolicies(options: CapturePoliciesOptions): CapturePolicies {
  return new PolicyCache(options)
}

const defaults = { ttl_ms: 30_000, load_wait_ms: 2_000, retry_ms: 1_000, projects_max: 10_000 }

type Known = { policy: CapturePolicy; read_at_ms: number }

class PolicyCache implements CapturePolicies {
  readonly #options: Required<CapturePoliciesOptions>
  readonly #unknown
  readonly #known: BoundedCache<string, Known>
  readonly #reads = new Map<string, Promise<CapturePolicy>>()
  #failed_at_ms = Number.NEGATIVE_INFINITY

  constructor(options: CapturePoliciesOptions) {
    this.#options = { ...defaults, ...options }
    this.#known = new BoundedCache(this.#options.projects_max)
    this.#unknown = options.metrics.counter({
      name: 'looptrace_capture_policy_unknown_total',
      help: 'Policies that could not be read, so that content was left out.',
    })
  }

  policyOf(project_id: string): CapturePolicy | Promise<CapturePolicy> {
    const known = this.#known.get(project_id)
    if (known === undefined) return this.#readFirst(project_id)
    const { clock, ttl_ms } = this.#options
    if (clock.now_ms() - known.read_at_ms >= ttl_ms && !this.#isUnavailable())
      void this.#read(project_id)
    return known.policy
  }

  forget(project_id: string): void {
    this.#known.delete(project_id)
    this.#reads.delete(project_id)
  }

  #readFirst(project_id: string): CapturePolicy | Promise<CapturePolicy> {
    return this.#isUnavailable() ? this.#useUnknown() : this.#waitFor(this.#read(project_id))
  }

  /**
   * Waits for a read, but not longer than `load_wait_ms`, so that a slow store delays no request.
   */
  async #waitFor(read: Promise<CapturePolicy>): Promise<CapturePolicy> {
    const waited = new AbortController()
    const late = sleep(this.#options.load_wait_ms, waited.signal).then(() => this.#lateAnswer)
    const policy = await Promise.race([read, late])
    waited.abort()
    return policy === this.#lateAnswer || policy === unknownPolicy ? this.#useUnknown() : policy
  }

  readonly #lateAnswer: CapturePolicy = { ...unknownPolicy }

  #useUnknown(): CapturePolicy {
    this.#unknown.inc()
    return unknownPolicy
  }

  #isUnavailable(): boolean {
    return this.#options.clock.now_ms() - this.#failed_at_ms < this.#options.retry_ms
  }

  /** Reads a policy; concurrent callers share a read. A read from before a `forget` is not kept. */
  #read(project_id: string): Promise<CapturePolicy> {
    const running = this.#reads.get(project_id)
    if (running !== undefined) return running
    const read = this.#load(project_id).then(
      (known) => {
        if (this.#reads.get(project_id) === read) this.#keep(project_id, known)
        return known.policy
      },
      () => {
        this.#failed_at_ms = this.#options.clock.now_ms()
        if (this.#reads.get(project_id) === read) this.#reads.delete(project_id)
        return this.#known.get(project_id)?.policy ?? unknownPolicy
      },
    )
    this.#reads.set(project_id, read)
    return read
  }

  async #load(project_id: string): Promise<Known> {
    const read_at_ms = this.#options.clock.now_ms()
    const rules = await runInProject(project_id, () =>
      policyTable.read(this.#options.db, project_id),
    )
    return { policy: compilePolicy(rules), read_at_ms }
  }

  #keep(project_id: string, known: Known): void {
    this.#reads.delete(project_id)
    this.#known.set(project_id, known)
  }
}
