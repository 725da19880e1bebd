import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { api } from '../../api/client.ts'
import { faultsOf } from '../../api/problem.ts'
import type { Finding, Task as TaskRecord } from '../../api/schema.gen.d.ts'
import { useKeys } from '../../browser/keys.ts'
import { neighbours } from '../../browser/list-walk.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { useLive } from '../../session/live.ts'
import { useHasRole, useProjectId } from '../../session/project.ts'
import { Copy } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { AreaField, faultAt } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Button, Heading } from '../../ui/parts.tsx'
import { Loaded, Loading } from '../../ui/states.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Plain } from '../../ui/text.tsx'
import { notify } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { About, Numbers } from './head/about.tsx'
import { curlOf, pathOfTab, textForAgent } from './head/copy-texts.ts'
import { FeedbackBox } from './head/feedback.tsx'
import { Findings, VerdictBox } from './head/findings.tsx'
import css from './head/head.module.css'
import { TurnsTab } from './turns/turns-tab.tsx'

const StepsTab = lazy(async () => ({ default: (await import('./steps-tab.tsx')).StepsTab }))
const MapTab = lazy(async () => ({ default: (await import('./map/map-tab.tsx')).MapTab }))

const CriticalPath = lazy(async () => ({
  default: (await import('../traces/critical-path.tsx')).CriticalPath,
}))

/** One task: what went wrong, where, and the way there. */
export function Task() {
  const { task_id } = useParams({ from: '/p/$project_id/tasks/$task_id' })
  const path = { path: { task_id } }
  const task = api.useQuery('get', '/api/v1/tasks/{task_id}', { params: path })
  const found = api.useQuery('get', '/api/v1/tasks/{task_id}/findings', { params: path })
  const client = useQueryClient()
  useLive(`task:${task_id}`, () => {
    void task.refetch()
    void found.refetch()
    void client.invalidateQueries({ queryKey: ['turns', task_id] })
  })
  if (task.data === undefined) {
    return (
      <>
        <Heading title="Task" />
        <Loaded query={task} what="Reading the task">
          {() => null}
        </Loaded>
      </>
    )
  }
  return (
    <Loaded query={task}>
      {(record) => (
        <>
          <Head task={record} findings={found.data?.findings ?? []} />
          <VerdictBox
            task={record}
            findings={found.data?.findings ?? []}
            isCurrent={found.data?.is_current ?? true}
          />
          <Numbers task={record} />
          <FeedbackBox task_id={task_id} />
          <Loaded query={found} what="Reading findings">
            {(list) => <Findings of={list} />}
          </Loaded>
          <TaskTabs task_id={task_id} findings={found.data?.findings ?? []} />
        </>
      )}
    </Loaded>
  )
}

function Head({ task, findings }: { task: TaskRecord; findings: readonly Finding[] }) {
  const project_id = useProjectId()
  const [{ tab, shown }] = useUrlState()
  const chosen = shown ?? task.verdict?.root_cause?.finding_id ?? findings[0]?.finding_id
  const curl = () => curlOf(window.location.origin, pathOfTab(task.task_id, tab))
  useKeys({
    '.': () => void navigator.clipboard?.writeText(curl()).then(() => notify('Command copied')),
  })
  return (
    <>
      <Heading title={<Plain>{task.name || task.task_id}</Plain>}>
        <Walk task_id={task.task_id} />
        <div className={css.actions}>
          <EndTask task={task} />
          <Copy
            small
            text={() =>
              textForAgent(
                task,
                findings.find((one) => one.finding_id === chosen),
              )
            }
          >
            Copy for an agent
          </Copy>
          <Copy small text={curl}>
            Copy as curl
          </Copy>
        </div>
      </Heading>
      <About task={task} project_id={project_id} />
    </>
  )
}

type End = 'complete' | 'fail'

const titles = { complete: 'Complete the task', fail: 'Mark the task as failed' } as const

/** Buttons that end a running task. Calls that come later are still recorded. */
function EndTask({ task: { task_id, state } }: { task: TaskRecord }) {
  const [asked, setAsked] = useState<End>()
  const canEnd = useHasRole('editor')
  if (state !== 'running') return null
  const reason = canEnd ? undefined : 'Needs the role editor'
  return (
    <>
      <Button small disabled={!canEnd} title={reason} onClick={() => setAsked('complete')}>
        Complete
      </Button>
      <Button small disabled={!canEnd} title={reason} onClick={() => setAsked('fail')}>
        Fail
      </Button>
      {asked !== undefined && (
        <EndDialog task_id={task_id} end={asked} onClose={() => setAsked(undefined)} />
      )}
    </>
  )
}

function EndDialog({ task_id, end, onClose }: { task_id: string; end: End; onClose: () => void }) {
  const client = useQueryClient()
  const onSuccess = () => {
    notify(end === 'complete' ? 'Task completed' : 'Task marked as failed')
    onClose()
    void client.invalidateQueries({ queryKey: ['get', '/api/v1/tasks/{task_id}'] })
    void client.invalidateQueries({ queryKey: ['tasks'] })
  }
  const complete = api.useMutation('put', '/api/v1/tasks/{task_id}/complete', { onSuccess })
  const fail = api.useMutation('put', '/api/v1/tasks/{task_id}/fail', { onSuccess })
  const run = end === 'complete' ? complete : fail
  const submit = (form: FormData) => {
    const note = String(form.get('note') ?? '').trim()
    run.mutate({ params: { path: { task_id } }, body: note === '' ? {} : { note } })
  }
  return (
    <Dialog title={titles[end]} open onClose={onClose}>
      <Form
        of={run}
        action={titles[end]}
        onSubmit={submit}
        beside={<Button onClick={onClose}>Cancel</Button>}
      >
        <p>An ended task does not run again. Calls that come later are recorded and marked late.</p>
        <AreaField
          label="Note (optional)"
          name="note"
          rows={3}
          maxLength={2_000}
          fault={faultAt(faultsOf(run.error), '/note')}
        />
      </Form>
    </Dialog>
  )
}

/** The way to the previous and next task of the list that the reader came from. */
function Walk({ task_id }: { task_id: string }) {
  const project_id = useProjectId()
  const navigate = useNavigate()
  const around = neighbours('tasks', task_id)
  const go = (id: string | undefined) => {
    if (id === undefined) return
    void navigate({ to: '/p/$project_id/tasks/$task_id', params: { project_id, task_id: id } })
  }
  useKeys({ '[': () => go(around?.previous), ']': () => go(around?.next) })
  if (around === undefined) {
    return (
      <Link to="/p/$project_id/tasks" params={{ project_id }}>
        All tasks
      </Link>
    )
  }
  const { previous, next, at } = around
  return (
    <nav className={css.walk} aria-label="Tasks of the list">
      <Button
        small
        aria-label="Previous task of the list"
        disabled={previous === undefined}
        onClick={() => go(previous)}
      >
        ‹
      </Button>
      <Button small look="plain" onClick={() => void navigate({ href: around.href })}>
        {at}
      </Button>
      <Button
        small
        aria-label="Next task of the list"
        disabled={next === undefined}
        onClick={() => go(next)}
      >
        ›
      </Button>
    </nav>
  )
}

function TaskTabs({ task_id, findings }: { task_id: string; findings: readonly Finding[] }) {
  const later = (part: React.ReactNode) => <Suspense fallback={<Loading />}>{part}</Suspense>
  return (
    <section aria-label="What the task did" className={ui.stack}>
      <Tabs
        label="Views of the task"
        tabs={[
          {
            id: 'turns',
            title: 'Turns',
            render: () => <TurnsTab task_id={task_id} findings={findings} />,
          },
          {
            id: 'steps',
            title: 'Steps',
            render: () => later(<StepsTab task_id={task_id} mode="tree" />),
          },
          {
            id: 'waterfall',
            title: 'Waterfall',
            render: () => later(<StepsTab task_id={task_id} mode="waterfall" />),
          },
          {
            id: 'path',
            title: 'Critical path',
            render: () =>
              later(<CriticalPath source={{ kind: 'task', id: task_id }} treeTab="steps" />),
          },
          { id: 'map', title: 'Map', render: () => later(<MapTab task_id={task_id} />) },
        ]}
      />
    </section>
  )
}
