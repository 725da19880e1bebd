import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useMemo, useState } from 'react'
import { api, call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import type { Task, VerificationCalibration } from '../../api/schema.gen.d.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { useHasRole, useProjectId } from '../../session/project.ts'
import { Chart } from '../../ui/chart.tsx'
import { SelectField } from '../../ui/fields.tsx'
import { formatCount, formatShare } from '../../ui/format.ts'
import { BackButton, HereLink } from '../../ui/here-link.tsx'
import { Progress } from '../../ui/job.tsx'
import { List } from '../../ui/list.tsx'
import { Button, Heading, State, Time } from '../../ui/parts.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { type Column, type Sorting, Table } from '../../ui/table.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Plain } from '../../ui/text.tsx'
import { notify, notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { Documents } from './documents.tsx'
import { Facts } from './facts.tsx'
import { PolicyTab } from './policy.tsx'
import { stepCurve } from './step-curve.ts'
import { TaskRuns } from './task-runs.tsx'
import { TracePart } from './trace-part.tsx'
import { Trust } from './trust.tsx'

/** The claims of the agents, and their evidence: answers, rules, documents, facts, calibration. */
export function Verification() {
  return (
    <div className={ui.stack}>
      <Heading title="Verification" />
      <Tabs
        label="Verification"
        tabs={[
          { id: 'answers', title: 'Answers', render: () => <AnswersTab /> },
          { id: 'policy', title: 'Policy', render: () => <PolicyTab /> },
          { id: 'documents', title: 'Documents', render: () => <Documents /> },
          { id: 'facts', title: 'Facts', render: () => <Facts /> },
          { id: 'calibration', title: 'Calibration', render: () => <CalibrationTab /> },
        ]}
      />
    </div>
  )
}

function AnswersTab() {
  const [{ trace, task }] = useUrlState()
  if (trace === undefined && task === undefined) return <Answers />
  return (
    <div className={ui.stack}>
      <BackButton
        all="answers"
        change={{ trace: undefined, task: undefined, claim: undefined, run: undefined }}
      />
      {trace === undefined ? (
        <TaskRuns task_id={task ?? ''} />
      ) : (
        <TracePart key={trace} trace_id={trace} />
      )}
    </div>
  )
}

const states = ['verified', 'pending', 'failed', 'not_verified'] as const

/** Tasks by the trust in their last answer, the least first. */
function Answers() {
  const project_id = useProjectId()
  const navigate = useNavigate()
  const [search, change] = useUrlState()
  const state = states.find((each) => each === search['state']) ?? 'verified'
  const sorting: Sorting = {
    by: search['sort'] ?? 'trust_score',
    order: search['order'] === 'desc' ? 'desc' : 'asc',
  }
  const query = {
    verification_state: state,
    sort: sorting.by as 'trust_score',
    order: sorting.order,
    limit: 50,
  }
  const tasks = usePages(
    ['verified-tasks', project_id, query],
    (cursor, signal) =>
      call.GET('/api/v1/tasks', { params: { query: { ...query, cursor } }, signal }),
    (each) => each.tasks,
  )
  return (
    <div className={ui.stack}>
      <div className={ui.row}>
        <SelectField
          label="State"
          value={state}
          options={states.map((each) => [each, each.replaceAll('_', ' ')] as const)}
          onChange={(event) => change({ state: event.target.value })}
        />
        <VerifyForm />
      </div>
      <List
        label="Answers"
        pages={tasks}
        columns={answerColumns}
        keyOf={({ task_id }) => task_id}
        onOpen={({ task_id }) =>
          void navigate({ to: '.', search: ((b: object) => ({ ...b, task: task_id })) as never })
        }
        sorting={sorting}
        onSort={({ by, order }) => change({ sort: by, order })}
        empty={
          <Empty title={`No answer is ${state.replaceAll('_', ' ')}`}>
            <p>Verify a task by its id above, or let the policy verify a share of all tasks.</p>
            <HereLink change={{ tab: 'policy' }}>Open the policy</HereLink>
          </Empty>
        }
      />
    </div>
  )
}

/** Verifies the last answer of a task. */
function VerifyForm() {
  const [, change] = useUrlState()
  const isEditor = useHasRole('editor')
  const [task_id, setTask] = useState('')
  const verify = api.useMutation('post', '/api/v1/verification/tasks/{task_id}/verify', {
    onSuccess: ({ trace_id }) => change({ trace: trace_id }, { push: true }),
    onError: notifyFault,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const body = { force_reverify: false, async_mode: true, verifiers: null }
    verify.mutate({ params: { path: { task_id: task_id.trim() } }, body })
  }
  return (
    <form className={ui.row} onSubmit={submit}>
      <input
        aria-label="Id of a task to verify"
        placeholder="Id of a task to verify"
        value={task_id}
        required
        disabled={!isEditor}
        onChange={(event) => setTask(event.target.value)}
      />
      <Button type="submit" disabled={!isEditor || verify.isPending}>
        {verify.isPending ? 'Starting…' : 'Verify its answer'}
      </Button>
      {!isEditor && <span className={ui.soft}>Editors of the project verify answers.</span>}
    </form>
  )
}

const answerColumns: Column<Task>[] = [
  {
    id: 'task',
    head: 'Task',
    cell: ({ task_id, name }) => (
      <HereLink change={{ task: task_id }}>
        <Plain>{name}</Plain>
      </HereLink>
    ),
  },
  { id: 'id', head: 'Id', wide: true, cell: ({ task_id }) => <Plain>{task_id}</Plain> },
  { id: 'state', head: 'State', cell: (task) => <State of={task.verification_state} /> },
  {
    id: 'trust_score',
    head: 'Trust',
    sortable: true,
    cell: ({ trust_score }) => <Trust score={trust_score} />,
  },
  {
    id: 'coverage',
    head: 'Coverage',
    number: true,
    wide: true,
    cell: ({ trust_coverage }) => trust_coverage !== null && formatShare(trust_coverage),
  },
  {
    id: 'verified',
    head: 'Verified',
    number: true,
    cell: ({ verified_at }) => verified_at && <Time at={verified_at} ago />,
  },
]

type Verifier = VerificationCalibration['verifiers'][number]

type Fit = NonNullable<Verifier['fit']>

const calibrationPath = '/api/v1/verification/calibration'

/** Whether the stated confidence of each verifier is right, by the verdicts of people. */
function CalibrationTab() {
  const query = api.useQuery('get', calibrationPath)
  const client = useQueryClient()
  const isAdmin = useHasRole('admin')
  const fit = api.useMutation('post', `${calibrationPath}/fit`, {
    onSuccess: async () => {
      notify('The confidence is fitted to the labels.')
      await client.invalidateQueries({ queryKey: ['get', calibrationPath] })
    },
    onError: notifyFault,
  })
  return (
    <Loaded query={query} what="Reading the calibration">
      {({ verifiers, labels_needed, claims_disputed }) => (
        <div className={ui.stack}>
          <p>
            Verdicts of people on claims are labels. With {formatCount(labels_needed)} labels of a
            verifier, its confidence can be fitted to them.
            {claims_disputed > 0 &&
              ` ${formatCount(claims_disputed)} claims are no label, because people disagree.`}
          </p>
          <Table
            label="Labels by verifier"
            columns={verifierColumns(labels_needed)}
            rows={verifiers}
            keyOf={({ name }) => name}
          />
          <div className={ui.row}>
            <Button disabled={!isAdmin || fit.isPending} onClick={() => fit.mutate({})}>
              {fit.isPending ? 'Fitting…' : 'Fit to the labels'}
            </Button>
            {!isAdmin && <span className={ui.soft}>Only administrators of the project fit.</span>}
          </div>
          {verifiers.map(({ name, fit: own }) => own && <Curve key={name} name={name} fit={own} />)}
        </div>
      )}
    </Loaded>
  )
}

const error = (value: number | null) => (value === null ? 'none' : value.toFixed(3))

const verifierColumns = (needed: number): Column<Verifier>[] => [
  { id: 'name', head: 'Verifier', cell: ({ name }) => name },
  {
    id: 'labels',
    head: 'Labels that count',
    cell: ({ labels_counted }) => (
      <Progress label={`${labels_counted} of ${needed}`} done={labels_counted} of={needed} />
    ),
  },
  { id: 'all', head: 'All labels', number: true, wide: true, cell: ({ labels }) => labels },
  { id: 'people', head: 'People', number: true, cell: ({ people }) => people },
  {
    id: 'largest',
    head: 'Largest share of one',
    number: true,
    wide: true,
    cell: ({ largest_share }) => (largest_share === null ? 'none' : formatShare(largest_share)),
  },
  { id: 'ece', head: 'Calibration error', number: true, cell: ({ ece }) => error(ece) },
  { id: 'brier', head: 'Brier score', number: true, wide: true, cell: ({ brier }) => error(brier) },
]

/** The measured confidence for each stated one, beside what would be perfect. */
function Curve({ name, fit }: { name: string; fit: Fit }) {
  const { x, series } = useMemo(() => stepCurve(fit.steps), [fit.steps])
  return (
    <section className={ui.stack} aria-label={`Calibration of ${name}`}>
      <h2>
        {name}, fit {fit.version} of <Time at={fit.created_at} />
      </h2>
      {!fit.calibrated && <p>Too few labels: the confidence stays as it is stated.</p>}
      {x.length > 0 && (
        <Chart
          label={`Measured confidence of ${name}, by the stated one`}
          format={formatPercent}
          formatX={formatPercent}
          {...{ x, series }}
        />
      )}
      <Table
        label={`Steps of ${name}`}
        rows={fit.steps}
        keyOf={({ from }) => String(from)}
        columns={[
          { id: 'from', head: 'Stated from', number: true, cell: ({ from }) => formatShare(from) },
          { id: 'value', head: 'Measured', number: true, cell: ({ value }) => formatShare(value) },
        ]}
      />
    </section>
  )
}

const formatPercent = (percent: number) => `${Math.round(percent)} %`
