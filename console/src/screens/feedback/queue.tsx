import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import type { ReviewTask } from '../../api/schema.gen.d.ts'
import { useKeys } from '../../browser/keys.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { useHasRole, useProjectId } from '../../session/project.ts'
import { formatCount } from '../../ui/format.ts'
import { HereLink } from '../../ui/here-link.tsx'
import { Badge, Button, Time } from '../../ui/parts.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { type Column, MoreRows, Table } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import { notify, notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { ReviewCard } from './review-card.tsx'

const claims = 5

/** The queue, with the task at hand above it. */
export function Queue() {
  const project_id = useProjectId()
  const client = useQueryClient()
  const [search, change] = useUrlState()
  const isEditor = useHasRole('editor')
  const query = {
    limit: 50,
    ...(search['name'] && { name: search['name'] }),
    ...(search['reviewers'] && { reviewers: Number(search['reviewers']) }),
  }
  const queue = usePages(
    ['review-queue', project_id, query],
    (cursor, signal) =>
      call.GET('/api/v1/feedback/review', { params: { query: { ...query, cursor } }, signal }),
    (each) => each.tasks,
  )
  const at = Math.max(
    0,
    queue.rows.findIndex(({ task_id }) => task_id === search['task']),
  )
  const task = queue.rows[at]
  const goTo = (step: number) => {
    const next = queue.rows[at + step]
    if (next !== undefined) change({ task: next.task_id })
  }
  const [last, setLast] = useState<string>()
  const claim = api.useMutation('post', '/api/v1/feedback/review/claim', {
    onSuccess: async ({ tasks }) => {
      notify(`${tasks.length} tasks are yours for 15 minutes.`)
      await client.invalidateQueries({ queryKey: ['review-queue'] })
    },
    onError: notifyFault,
  })
  const take = () => isEditor && claim.mutate({ body: { tasks: claims } })
  useKeys({ n: () => goTo(1), p: () => goTo(-1), c: take })
  const onDone = async (labelled?: string) => {
    if (labelled !== undefined) setLast(labelled)
    change({ task: queue.rows[at + 1]?.task_id })
    await client.invalidateQueries({ queryKey: ['review-queue'] })
  }
  return (
    <div className={ui.stack}>
      <Filters />
      <Loaded query={queue} what="Reading the queue">
        {() => (
          <>
            <div className={ui.row}>
              <Button disabled={!isEditor || claim.isPending} onClick={take}>
                Take {claims} tasks <kbd>c</kbd>
              </Button>
              <span className={ui.soft}>{formatCount(queue.total ?? queue.rows.length)} tasks</span>
              {!isEditor && <span className={ui.soft}>Editors of the project label tasks.</span>}
            </div>
            {last !== undefined && <TakeBack task_id={last} onDone={() => setLast(undefined)} />}
            {task !== undefined && (
              <ReviewCard key={task.task_id} task={task} isEditor={isEditor} onDone={onDone} />
            )}
            <Table
              label="Queue"
              columns={columns(task?.task_id)}
              rows={queue.rows}
              keyOf={({ task_id }) => task_id}
              onOpen={({ task_id }) => change({ task: task_id })}
              empty={
                <Empty title="Nothing to review">
                  <p>
                    A task comes here with a finding, a trust score below 0.8, or negative feedback.
                  </p>
                </Empty>
              }
            />
            <MoreRows
              hasMore={queue.hasMore}
              isLoading={queue.isLoadingMore}
              loadMore={queue.loadMore}
            />
          </>
        )}
      </Loaded>
    </div>
  )
}

/** Removes the label that was given last. */
function TakeBack({ task_id, onDone }: { task_id: string; onDone: () => void }) {
  const client = useQueryClient()
  const remove = api.useMutation('delete', '/api/v1/feedback/review/{task_id}/labels', {
    onSuccess: async () => {
      notify('The label is removed.')
      onDone()
      await client.invalidateQueries({ queryKey: ['review-queue'] })
    },
    onError: notifyFault,
  })
  return (
    <div>
      <Button
        small
        disabled={remove.isPending}
        onClick={() => remove.mutate({ params: { path: { task_id } } })}
      >
        Take back the label of <Plain>{task_id}</Plain>
      </Button>
    </div>
  )
}

function Filters() {
  const [search, change] = useUrlState()
  return (
    <div className={ui.row}>
      <input
        data-filter
        aria-label="Name of the task"
        placeholder="Name of the task"
        defaultValue={search['name']}
        onKeyDown={(event) => {
          if (event.key === 'Enter') change({ name: event.currentTarget.value || undefined })
        }}
      />
      <label className={ui.row}>
        Reviewers per task
        <select
          value={search['reviewers'] ?? '1'}
          onChange={(event) =>
            change({ reviewers: event.target.value === '1' ? undefined : event.target.value })
          }
        >
          <option>1</option>
          <option>2</option>
          <option>3</option>
        </select>
      </label>
    </div>
  )
}

const columns = (chosen: string | undefined): Column<ReviewTask>[] => [
  {
    id: 'task',
    head: 'Task',
    cell: ({ task_id, name }) => (
      <HereLink change={{ task: task_id }} aria-current={task_id === chosen}>
        <Plain>{`${name}, ${task_id}`}</Plain>
      </HereLink>
    ),
  },
  { id: 'risk', head: 'Risk', number: true, cell: ({ risk }) => risk.toFixed(2) },
  {
    id: 'why',
    head: 'Why',
    wide: true,
    cell: ({ factors }) =>
      Object.entries(factors)
        .filter(([, value]) => value > 0)
        .map(([factor, value]) => `${factor} ${value.toFixed(2)}`)
        .join(', '),
  },
  { id: 'findings', head: 'Findings', number: true, cell: (task) => task.findings_total },
  { id: 'labels', head: 'Labels', number: true, wide: true, cell: ({ labels }) => labels },
  {
    id: 'claimed',
    head: 'Taken',
    cell: ({ claimed_until }) => claimed_until !== null && <Badge tone="info">by you</Badge>,
  },
  {
    id: 'started',
    head: 'Started',
    number: true,
    wide: true,
    cell: ({ started_at }) => <Time at={started_at} ago />,
  },
]
