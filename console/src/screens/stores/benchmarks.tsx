import { useQueryClient } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { api, call } from '../../api/client.ts'
import { Problem } from '../../api/problem.ts'
import type { StoreBenchmark } from '../../api/schema.gen.d.ts'
import { useHasRole, useProjectId } from '../../app/project.ts'
import { useUrlState } from '../../app/use-search.ts'
import { faultAt, TextField } from '../../ui/fields.tsx'
import { HereLink } from '../../ui/here-link.tsx'
import { Actor, useRunPages } from '../../ui/job.tsx'
import { List } from '../../ui/list.tsx'
import { Button, State, Time } from '../../ui/parts.tsx'
import { Empty, Fault } from '../../ui/states.tsx'
import type { Column } from '../../ui/table.tsx'
import ui from '../../ui/ui.module.css'
import { BenchmarkPage } from './benchmark-page.tsx'

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
  const faults = start.error instanceof Problem ? start.error.faults : undefined
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
