import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { api, call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import type { Task } from '../../api/schema.gen.d.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { useHasRole, useProjectId } from '../../session/project.ts'
import { SelectField } from '../../ui/fields.tsx'
import { formatShare } from '../../ui/format.ts'
import { HereLink } from '../../ui/here-link.tsx'
import { List } from '../../ui/list.tsx'
import { Button, State, Time } from '../../ui/parts.tsx'
import { Empty } from '../../ui/states.tsx'
import type { Column, Sorting } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import { notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { Trust } from './trust.tsx'

const states = ['verified', 'pending', 'failed', 'not_verified'] as const

/** Tasks by the trust in their last answer, the least first. */
export function Answers() {
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
        columns={columns}
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

const columns: Column<Task>[] = [
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
