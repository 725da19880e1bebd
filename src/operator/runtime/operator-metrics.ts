import type { Metrics } from '../../platform/telemetry/index.ts'
import type { Timing } from './timing.ts'
import type { QueueObserver } from './work-queue.ts'

/** The result of a reconcile, as controller-runtime names it. */
export type ReconcileResult = 'success' | 'error' | 'requeue_after'

/** The metrics of one controller. */
export type ControllerMetrics = {
  queue: QueueObserver
  reconciled(result: ReconcileResult, took_ms: number): void
  drifted(count: number): void
  /** An object was revoked whose resource is gone. */
  orphanRevoked(): void
  listed(resource: string, why: string): void
}

export type OperatorMetrics = {
  /** Adds a controller. Its sources are read at each scrape. */
  controller(controller: string, sources: ControllerSources): ControllerMetrics
  leading(isLeader: () => boolean): void
  /** Reports whether another installation serves the class. */
  conflicting(class_name: string, hasConflict: () => boolean): void
  /** Reports the number of namespaces that the selector matches, if there is one. */
  selecting(gate: { isSelective: boolean; count: () => number }): void
}

type ControllerSources = {
  workers: number
  depth: () => number
  resources: () => { ready: number; not_ready: number }
  /** Objects whose resource is gone and that are not revoked yet. */
  orphans: () => number
}

const seconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
/** The buckets that client-go uses for its queue metrics. */
const decades = [1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100, 1000]

/**
 * Creates the operator's metrics. Most have the names of controller-runtime and client-go, so that
 * existing dashboards and alerts work.
 * https://book.kubebuilder.io/reference/metrics-reference
 */
export function createOperatorMetrics(metrics: Metrics, timing: Timing): OperatorMetrics {
  const vectors = createVectors(metrics)
  const controllers: { name: string; sources: ControllerSources; began: Map<string, number> }[] = []
  const { clock } = timing
  registerGauges(metrics, controllers, clock.now_ms)
  let isLeader = () => false
  metrics.gauge({
    name: 'leader_election_master_status',
    help: 'Whether this process holds the Lease: 1 or 0.',
    labels: ['name'],
    collect: (gauge) => gauge.set({ name: 'looptrace-operator' }, isLeader() ? 1 : 0),
  })
  let conflict = { class_name: 'default', has: () => false }
  metrics.gauge({
    name: 'looptrace_operator_class_conflict',
    help: 'Whether another installation serves the class, so that neither writes: 1 or 0.',
    labels: ['class'],
    collect: (gauge) => gauge.set({ class: conflict.class_name }, conflict.has() ? 1 : 0),
  })
  let selected: (() => number) | undefined
  metrics.gauge({
    name: 'looptrace_operator_selected_namespaces',
    help: 'Namespaces that `LOOPTRACE_OPERATOR_NAMESPACE_SELECTOR` matches; absent without a selector.',
    labels: [],
    collect: (gauge) => selected && gauge.set({}, selected()),
  })
  return {
    selecting: ({ isSelective, count }) => {
      selected = isSelective ? count : undefined
    },
    leading: (ask) => {
      isLeader = ask
    },
    conflicting: (class_name, hasConflict) => {
      conflict = { class_name, has: hasConflict }
    },
    controller: (controller, sources) => {
      const began = new Map<string, number>()
      controllers.push({ name: controller, sources, began })
      const name = { name: controller, controller }
      return {
        drifted: (count) => vectors.drift.inc({ controller }, count),
        orphanRevoked: () => vectors.orphansRevoked.inc({ controller }),
        listed: (resource, why) => vectors.lists.inc({ resource, why }),
        reconciled: (result, took_ms) => {
          vectors.reconciles.inc({ controller, result })
          if (result === 'error') vectors.errors.inc({ controller })
          vectors.reconcileTime.observe({ controller }, took_ms / 1000)
        },
        queue: {
          added: () => vectors.adds.inc(name),
          retried: () => vectors.retries.inc(name),
          taken: (key, waited_ms) => {
            began.set(key, clock.now_ms())
            vectors.waited.observe(name, waited_ms / 1000)
          },
          done: (key) => {
            const took_ms = clock.now_ms() - (began.get(key) ?? clock.now_ms())
            began.delete(key)
            vectors.worked.observe(name, took_ms / 1000)
          },
        },
      }
    },
  }
}

/** Returns a counter of the API server's answers, for `openKube`. */
export function apiAnswerCounter(
  metrics: Metrics,
): (answer: { method: string; code: string }) => void {
  const answers = metrics.counter({
    name: 'rest_client_requests_total',
    help: 'Answers of the Kubernetes API server by method and status.',
    labels: ['method', 'code'],
  })
  return ({ method, code }) => answers.inc({ method, code })
}

function createVectors(metrics: Metrics) {
  const controller = ['controller'] as const
  const queue = ['name', 'controller'] as const
  return {
    reconciles: metrics.counter({
      name: 'controller_runtime_reconcile_total',
      help: 'Reconciles by result.',
      labels: ['controller', 'result'],
    }),
    errors: metrics.counter({
      name: 'controller_runtime_reconcile_errors_total',
      help: 'Failed reconciles.',
      labels: controller,
    }),
    reconcileTime: metrics.histogram({
      name: 'controller_runtime_reconcile_time_seconds',
      help: 'Duration of a reconcile in seconds.',
      labels: controller,
      buckets: seconds,
    }),
    adds: metrics.counter({
      name: 'workqueue_adds_total',
      help: 'Keys added to a queue.',
      labels: queue,
    }),
    retries: metrics.counter({
      name: 'workqueue_retries_total',
      help: 'Keys added again after a failure.',
      labels: queue,
    }),
    waited: metrics.histogram({
      name: 'workqueue_queue_duration_seconds',
      help: 'Time a key waits for a worker, in seconds.',
      labels: queue,
      buckets: decades,
    }),
    worked: metrics.histogram({
      name: 'workqueue_work_duration_seconds',
      help: 'Time a worker takes for a key, in seconds.',
      labels: queue,
      buckets: decades,
    }),
    drift: metrics.counter({
      name: 'looptrace_operator_drift_corrected_total',
      help: 'Values in the service that someone else had changed and the operator corrected.',
      labels: controller,
    }),
    orphansRevoked: metrics.counter({
      name: 'looptrace_operator_orphans_revoked_total',
      help: 'Objects in the service that were revoked because their resource is gone.',
      labels: controller,
    }),
    lists: metrics.counter({
      name: 'looptrace_operator_lists_total',
      help: 'Full lists of a resource type, by resource and by why it was listed.',
      labels: ['resource', 'why'],
    }),
  }
}

type ControllerState = {
  name: string
  sources: ControllerSources
  began: ReadonlyMap<string, number>
}

function registerGauges(
  metrics: Metrics,
  controllers: readonly ControllerState[],
  now_ms: () => number,
) {
  const queue = ['name', 'controller'] as const
  const perQueue = (name: string, help: string, measure: (state: ControllerState) => number) =>
    metrics.gauge({
      name,
      help,
      labels: queue,
      collect: (gauge) => {
        for (const one of controllers) {
          gauge.set({ name: one.name, controller: one.name }, measure(one))
        }
      },
    })
  const ages = ({ began }: ControllerState) =>
    [...began.values()].map((at) => (now_ms() - at) / 1000)
  perQueue('workqueue_depth', 'Keys waiting for a worker.', ({ sources }) => sources.depth())
  perQueue(
    'workqueue_unfinished_work_seconds',
    'Seconds spent so far on all reconciles in progress.',
    (state) => ages(state).reduce((sum, age) => sum + age, 0),
  )
  perQueue(
    'workqueue_longest_running_processor_seconds',
    'Seconds that the oldest reconcile in progress has taken.',
    (state) => Math.max(0, ...ages(state)),
  )
  const perController = (name: string, help: string, measure: (state: ControllerState) => number) =>
    metrics.gauge({
      name,
      help,
      labels: ['controller'],
      collect: (gauge) => {
        for (const one of controllers) gauge.set({ controller: one.name }, measure(one))
      },
    })
  perController(
    'controller_runtime_active_workers',
    'Reconciles in progress.',
    ({ began }) => began.size,
  )
  perController(
    'controller_runtime_max_concurrent_reconciles',
    'Maximum concurrent reconciles.',
    ({ sources }) => sources.workers,
  )
  perController(
    'looptrace_operator_orphans',
    'Objects in the service whose resource is gone, and that are revoked after the grace.',
    ({ sources }) => sources.orphans(),
  )
  metrics.gauge({
    name: 'looptrace_operator_resources',
    help: 'Resources by kind and by the status of Ready.',
    labels: ['controller', 'ready'],
    collect: (gauge) => {
      for (const { name: controller, sources } of controllers) {
        const { ready, not_ready } = sources.resources()
        gauge.set({ controller, ready: 'true' }, ready)
        gauge.set({ controller, ready: 'false' }, not_ready)
      }
    },
  })
}
