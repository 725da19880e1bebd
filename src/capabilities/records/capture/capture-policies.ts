import { BoundedCache } from '../../../kernel/bounded-cache.ts'
import { type Clock, sleep } from '../../../kernel/time.ts'
import type { CaptureTables, Kysely } from '../../../platform/relational/index.ts'
import type { Metrics } from '../../../platform/telemetry/index.ts'
import { compilePolicy, defaultRules, unknownPolicy } from './compile-policy.ts'
import type { CapturePolicy } from './contract.ts'
import { findPolicy } from './store.ts'

export type CapturePoliciesOptions = {
  db: Kysely<CaptureTables>
  clock: Clock
  metrics: Metrics
  /** After so long a policy is read again, while the old one goes on being used. */
  ttl_ms?: number
  /** How long a first reading is waited for. */
  load_wait_ms?: number
  /** How long after a failed reading the next one is tried, for any project. */
  retry_ms?: number
  /** Projects kept; those read first go first. */
  projects_max?: number
}

/** The policies as the edges of this process know them. */
export type CapturePolicies = {
  /**
   * A project's policy. What is known comes at once, old as it may be; a promise only when this
   * project was never read. It never rejects: while the store is away a project that is not known
   * is answered with `metadata_only`, and counted.
   */
  policyOf(project_id: string): CapturePolicy | Promise<CapturePolicy>
  /** Has the project read again at its next use: its rules were changed here. */
  forget(project_id: string): void
}

/** Makes the reader of policies of a process. */
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
      help: 'Times that content was left out because the policy of a project could not be read.',
    })
  }

  policyOf(project_id: string): CapturePolicy | Promise<CapturePolicy> {
    const known = this.#known.get(project_id)
    if (known === undefined) return this.#readFirst(project_id)
    const { clock, ttl_ms } = this.#options
    if (clock.now_ms() - known.read_at_ms >= ttl_ms && !this.#isAway()) void this.#read(project_id)
    return known.policy
  }

  forget(project_id: string): void {
    this.#known.delete(project_id)
    this.#reads.delete(project_id)
  }

  #readFirst(project_id: string): CapturePolicy | Promise<CapturePolicy> {
    return this.#isAway() ? this.#notKnown() : this.#waitFor(this.#read(project_id))
  }

  /** A store that is slow must not make what waits here grow. */
  async #waitFor(read: Promise<CapturePolicy>): Promise<CapturePolicy> {
    const waited = new AbortController()
    const late = sleep(this.#options.load_wait_ms, waited.signal).then(() => this.#lateAnswer)
    const policy = await Promise.race([read, late])
    waited.abort()
    return policy === this.#lateAnswer || policy === unknownPolicy ? this.#notKnown() : policy
  }

  readonly #lateAnswer: CapturePolicy = { ...unknownPolicy }

  #notKnown(): CapturePolicy {
    this.#unknown.inc()
    return unknownPolicy
  }

  #isAway(): boolean {
    return this.#options.clock.now_ms() - this.#failed_at_ms < this.#options.retry_ms
  }

  /** Those who ask for one project at one time share a reading. One that `forget` overtook is not kept. */
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
    const stored = await findPolicy(this.#options.db, project_id)
    return { policy: compilePolicy(stored ?? defaultRules), read_at_ms }
  }

  #keep(project_id: string, known: Known): void {
    this.#reads.delete(project_id)
    this.#known.set(project_id, known)
  }
}
