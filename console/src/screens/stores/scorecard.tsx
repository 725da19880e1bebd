import { useQueryClient } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import type { RouteStatsReply, StoreScorecard } from '../../api/schema.gen.d.ts'
import { useHasRole } from '../../session/project.ts'
import { formatCount, formatDuration, formatShare } from '../../ui/format.ts'
import { HereLink } from '../../ui/here-link.tsx'
import { Meter } from '../../ui/meter.tsx'
import { Button, Time } from '../../ui/parts.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import { notify, notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { ratioText } from './ratio.ts'
import { storeName } from './store-name.ts'

type Workload = StoreScorecard['workloads'][number]

/** The recommended store for each kind of read, with its evidence, and the live statistics. */
export function Scorecard() {
  const query = api.useQuery('get', '/api/v2/observability/store-selection/scorecard')
  const stats = api.useQuery('get', '/api/v2/observability/query/route-stats')
  return (
    <div className={ui.stack}>
      <Loaded query={query} what="Reading the scorecard">
        {(scorecard) => (
          <>
            <p>
              {scorecard.benchmark === null ? (
                <>
                  There is no benchmark yet.{' '}
                  <HereLink change={{ tab: 'benchmarks' }}>Run one</HereLink>
                </>
              ) : (
                <>
                  From the benchmark of <Time at={scorecard.benchmark.ended_at} /> and the reads
                  since <Time at={scorecard.live_since} />.
                </>
              )}
            </p>
            <Table
              label="Recommendations"
              columns={columns}
              rows={scorecard.workloads}
              keyOf={({ query_class }) => query_class}
            />
            <Apply of={scorecard} />
          </>
        )}
      </Loaded>
      <h2>Reads of the project</h2>
      <Loaded query={stats} what="Reading the statistics">
        {({ routes }) => (
          <Table
            label="Reads by kind and store"
            columns={statColumns}
            rows={routes}
            keyOf={({ query_class, store }) => `${query_class} ${store}`}
            empty={<Empty title="No reads yet" />}
          />
        )}
      </Loaded>
    </div>
  )
}

function Apply({ of: { workloads } }: { of: StoreScorecard }) {
  const client = useQueryClient()
  const isAdmin = useHasRole('admin')
  const routing = api.useQuery('get', '/api/v2/observability/store-routing')
  const apply = api.useMutation('put', '/api/v2/observability/store-routing', {
    onSuccess: async () => {
      notify('The recommended routes are set.')
      await client.invalidateQueries({ queryKey: ['get', '/api/v2/observability/store-routing'] })
    },
    onError: notifyFault,
  })
  const chosen = workloads.filter(({ recommended }) => recommended !== null)
  const { data } = routing
  const isOff = !isAdmin || chosen.length === 0 || data === undefined || apply.isPending
  return (
    <div className={ui.row}>
      <Button
        disabled={isOff}
        onClick={() => {
          if (data === undefined) return
          const params = { header: { 'If-Match': `"${data.version}"` } }
          apply.mutate({ params, body: { apply_scorecard: true } })
        }}
      >
        Use the recommended stores
      </Button>
      <span className={ui.soft}>
        {chosen.length === 0 ? 'Nothing is recommended yet.' : 'Only the routes change.'}
      </span>
    </div>
  )
}

const columns: Column<Workload>[] = [
  { id: 'class', head: 'Read', cell: ({ query_class }) => query_class },
  {
    id: 'recommended',
    head: 'Recommended',
    cell: ({ recommended }) =>
      recommended === null ? 'not enough evidence' : storeName(recommended),
  },
  {
    id: 'confidence',
    head: 'Confidence',
    cell: ({ confidence }) => (
      <>
        {formatShare(confidence)} <Meter share={confidence} />
      </>
    ),
  },
  { id: 'ratio', head: 'Benchmark', cell: ({ benchmark }) => ratioText(benchmark.ratio) },
  {
    id: 'cases',
    head: 'Queries',
    number: true,
    wide: true,
    cell: ({ benchmark: { cases, unequal } }) =>
      unequal > 0 ? `${cases}, ${unequal} with different rows` : cases,
  },
  { id: 'why', head: 'Why', wide: true, cell: ({ reason }) => <Plain>{reason}</Plain> },
]

const ms = (value: number | null) => (value === null ? '' : formatDuration(value))

const statColumns: Column<RouteStatsReply['routes'][number]>[] = [
  { id: 'class', head: 'Read', cell: ({ query_class }) => query_class },
  { id: 'store', head: 'Store', cell: ({ store }) => storeName(store) },
  { id: 'requests', head: 'Reads', number: true, cell: ({ requests }) => formatCount(requests) },
  { id: 'errors', head: 'Errors', number: true, cell: ({ errors }) => formatCount(errors) },
  {
    id: 'fallbacks',
    head: 'For the other store',
    number: true,
    wide: true,
    cell: ({ fallbacks }) => formatCount(fallbacks),
  },
  { id: 'p50', head: 'p50', number: true, cell: ({ p50_ms }) => ms(p50_ms) },
  { id: 'p95', head: 'p95', number: true, cell: ({ p95_ms }) => ms(p95_ms) },
]
