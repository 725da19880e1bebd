import { useQueryClient } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { api, call } from '../../api/client.ts'
import { faultsOf } from '../../api/problem.ts'
import type { StoreBenchmark } from '../../api/schema.gen.d.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { useHasRole, useProjectId } from '../../session/project.ts'
import { faultAt, TextField } from '../../ui/fields.tsx'
import { formatDuration } from '../../ui/format.ts'
import { BackButton, HereLink } from '../../ui/here-link.tsx'
import { Actor, isUnderWay, Progress, pollWhile, useRunPages } from '../../ui/job.tsx'
import { Json } from '../../ui/json.tsx'
import { List } from '../../ui/list.tsx'
import { Badge, Button, Facts, State, Time } from '../../ui/parts.tsx'
import { Empty, Fault, Loaded } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { ratioOf, ratioText } from './ratio.ts'

/** The benchmarks of the project; one of them is opened by the URL. */
export function Benchmarks() {
  const [{ run }] = useUrlState()
  return run === undefined ? <BenchmarkList /> : <BenchmarkPage job_id={run} />
}

function BenchmarkList() {
  const project_id = useProjectId()
  const [, change] = useUrlState()
  const runs = useRunPages(
    ['benchmarks', project_id],
    (cursor, signal) =>
      call.GET('/api/v2/observability/store-benchmark/runs', {
        params: { query: { limit: 20, cursor } },
        signal,
      }),
    (each) => each.runs,
  )
  return (
    <div className={ui.stack}>
      <StartBenchmark />
      <List
        label="Benchmarks"
        pages={runs}
        columns={columns}
        keyOf={({ job_id }) => job_id}
        onOpen={({ job_id }) => change({ run: job_id }, { push: true })}
        empty={
          <Empty title="No benchmark">
            <p>
              It sends the same queries to each store: a suite, and the slowest and latest of the
              project. It loads no data and takes three minutes at most.
            </p>
          </Empty>
        }
      />
    </div>
  )
}

function StartBenchmark() {
  const client = useQueryClient()
  const [, change] = useUrlState()
  const isAdmin = useHasRole('admin')
  const start = api.useMutation('post', '/api/v2/observability/store-benchmark/run', {
    onSuccess: async ({ job_id }) => {
      await client.invalidateQueries({ queryKey: ['benchmarks'] })
      change({ run: job_id }, { push: true })
    },
  })
  const faults = faultsOf(start.error)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const [runs, queries_max] = [Number(form.get('runs')), Number(form.get('queries_max'))]
    start.mutate({ body: { runs, queries_max } })
  }
  return (
    <form className={ui.stack} onSubmit={submit}>
      <div className={ui.row} style={{ alignItems: 'end' }}>
        <TextField
          label="Runs of each query"
          name="runs"
          inputMode="numeric"
          defaultValue="15"
          size={8}
          disabled={!isAdmin}
          fault={faultAt(faults, '/runs')}
        />
        <TextField
          label="Queries of the project"
          name="queries_max"
          inputMode="numeric"
          defaultValue="20"
          size={8}
          disabled={!isAdmin}
          fault={faultAt(faults, '/queries_max')}
        />
        <Button type="submit" look="primary" disabled={!isAdmin || start.isPending}>
          {start.isPending ? 'Starting…' : 'Run a benchmark'}
        </Button>
      </div>
      {!isAdmin && <p className={ui.soft}>Administrators of the project run benchmarks.</p>}
      {start.error !== null && <Fault error={start.error} />}
    </form>
  )
}

const columns: Column<StoreBenchmark>[] = [
  {
    id: 'created',
    head: 'Started',
    cell: ({ job_id, created_at }) => (
      <HereLink change={{ run: job_id }}>
        <Time at={created_at} />
      </HereLink>
    ),
  },
  { id: 'state', head: 'State', cell: ({ state }) => <State of={state} /> },
  {
    id: 'done',
    head: 'Queries',
    number: true,
    cell: ({ done, of }) => (of === null ? done : `${done} of ${of}`),
  },
  { id: 'runs', head: 'Runs of each', number: true, wide: true, cell: ({ runs }) => runs },
  { id: 'by', head: 'By', wide: true, cell: ({ requested_by }) => <Actor of={requested_by} /> },
]

type Case = StoreBenchmark['cases'][number]

/** One benchmark: how far it is, and each query by store. */
function BenchmarkPage({ job_id }: { job_id: string }) {
  const query = api.useQuery(
    'get',
    '/api/v2/observability/store-benchmark/runs/{job_id}',
    { params: { path: { job_id } } },
    { refetchInterval: ({ state }) => pollWhile([state.data?.state]) },
  )
  return (
    <div className={ui.stack}>
      <BackButton all="benchmarks" change={{ run: undefined }} />
      <Loaded query={query} what="Reading the benchmark">
        {(run) => (
          <>
            <div className={ui.row}>
              <h2>
                Benchmark of <Time at={run.created_at} />
              </h2>
              <State of={run.state} />
            </div>
            {isUnderWay(run.state) && (
              <Progress
                label={run.of === null ? 'Starting' : `${run.done} of ${run.of} queries`}
                done={run.done}
                {...(run.of !== null && { of: run.of })}
              />
            )}
            {run.stopped_early && (
              <p className={ui.notice}>It stopped at its limit of time. The rest was not run.</p>
            )}
            <Facts
              of={[
                ['Asked by', <Actor key="a" of={run.requested_by} />],
                ['Runs of each query', run.runs],
                ['Error', run.error && <Plain key="e">{run.error}</Plain>],
                ['Queries left out', run.unreadable > 0 ? run.unreadable : null],
              ]}
            />
            <Table
              label="Queries"
              columns={caseColumns}
              rows={run.cases.map((each, at) => ({ ...each, at }))}
              keyOf={({ at }) => String(at)}
            />
          </>
        )}
      </Loaded>
    </div>
  )
}

const caseColumns: Column<Case & { at: number }>[] = [
  {
    id: 'name',
    head: 'Query',
    cell: ({ name, origin, query }) => (
      <>
        <Plain>{name}</Plain> <span className={ui.soft}>{origin}</span>
        <Json value={query} open={0} />
      </>
    ),
  },
  { id: 'class', head: 'Read', wide: true, cell: ({ query_class }) => query_class },
  { id: 'clickhouse', head: 'ClickHouse', number: true, cell: (of) => median(of, 'clickhouse') },
  { id: 'postgres', head: 'PostgreSQL', number: true, cell: (of) => median(of, 'postgres') },
  { id: 'ratio', head: 'Faster', cell: ({ stores }) => ratioText(ratioOf(stores)) },
  {
    id: 'equal',
    head: 'Same rows',
    cell: ({ equal }) =>
      equal === null ? (
        'not compared'
      ) : (
        <Badge tone={equal ? 'good' : 'bad'}>{equal ? 'yes' : 'no'}</Badge>
      ),
  },
]

function median({ stores }: Case, name: string) {
  const own = stores.find(({ store }) => store === name)
  if (own === undefined) return 'not asked'
  if (own.error !== null) return <Plain>{own.error}</Plain>
  if (own.median_ms === null) return ''
  return (
    <>
      {formatDuration(own.median_ms)}
      {own.p95_ms !== null && <div className={ui.soft}>p95 {formatDuration(own.p95_ms)}</div>}
    </>
  )
}
