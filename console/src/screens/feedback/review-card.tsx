import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import type { ReviewTask } from '../../api/schema.gen.d.ts'
import { useKeys } from '../../browser/keys.ts'
import { useProjectId } from '../../session/project.ts'
import { Button, Severity } from '../../ui/parts.tsx'
import { Fault } from '../../ui/states.tsx'
import { LongText, Plain } from '../../ui/text.tsx'
import { notify, notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { ClaimVerdict } from '../verification/trust.tsx'

const labels = ['correct', 'incorrect', 'partly', 'unclear'] as const
type Label = (typeof labels)[number]
type Verdicts<V> = Readonly<Record<string, V | undefined>>

/** The task at hand: what the detectors and verifiers say, and the label by a number key. */
export function ReviewCard({
  task,
  isEditor,
  onDone,
}: {
  task: ReviewTask
  isEditor: boolean
  /** Called with the id of the task if it was labelled, without one if it was skipped. */
  onDone: (labelled?: string) => Promise<void>
}) {
  const project_id = useProjectId()
  const { task_id } = task
  const params = { path: { task_id } }
  const [findings, setFindings] = useState<Verdicts<'right' | 'wrong'>>({})
  const [claims, setClaims] = useState<Verdicts<'supported' | 'contradicted'>>({})
  const save = api.useMutation('post', '/api/v1/feedback/review/{task_id}/labels', {
    onSuccess: async () => {
      notify('The label is saved.')
      await onDone(task_id)
    },
  })
  const skip = api.useMutation('post', '/api/v1/feedback/review/{task_id}/skip', {
    onSuccess: () => onDone(),
    onError: notifyFault,
  })
  const isBusy = save.isPending || skip.isPending
  const label = (chosen: Label) => {
    if (!isEditor || isBusy) return
    const body = {
      label: chosen,
      findings: entriesOf(findings).map(([finding_id, verdict]) => ({ finding_id, verdict })),
      claims: entriesOf(claims).map(([claim_id, verdict]) => ({ claim_id, verdict, reason: null })),
    }
    save.mutate({ params, body })
  }
  const pass = () => isEditor && !isBusy && skip.mutate({ params })
  useKeys({
    ...Object.fromEntries(labels.map((each, index) => [String(index + 1), () => label(each)])),
    s: pass,
  })
  return (
    <section className={ui.box} aria-label="Task at hand">
      <div className={ui.stack}>
        <div className={ui.row}>
          <h2 className={ui.grow}>
            <Plain>{task.name}</Plain>
          </h2>
          <Link to="/p/$project_id/tasks/$task_id" params={{ project_id, task_id }}>
            Open the task
          </Link>
        </div>
        <p className={ui.soft}>
          <Plain>{task_id}</Plain>, risk {task.risk.toFixed(2)}
          {task.release !== null && (
            <>
              , release <Plain>{task.release}</Plain>
            </>
          )}
        </p>
        <Findings of={task} verdicts={findings} onChange={setFindings} isEditor={isEditor} />
        <Claims of={task} verdicts={claims} onChange={setClaims} isEditor={isEditor} />
        {save.error !== null && <Fault error={save.error} />}
        <div className={ui.row}>
          <strong>The work of the agent is</strong>
          {labels.map((each, index) => (
            <Button key={each} disabled={!isEditor || isBusy} onClick={() => label(each)}>
              {each} <kbd>{index + 1}</kbd>
            </Button>
          ))}
          <Button look="plain" disabled={!isEditor || isBusy} onClick={pass}>
            Skip <kbd>s</kbd>
          </Button>
          <span className={ui.soft}>
            <kbd>n</kbd> next, <kbd>p</kbd> previous
          </span>
        </div>
      </div>
    </section>
  )
}

function entriesOf<V>(verdicts: Verdicts<V>): [string, V][] {
  return Object.entries(verdicts).filter((entry): entry is [string, V] => entry[1] !== undefined)
}

type Part<V> = {
  of: ReviewTask
  verdicts: Verdicts<V>
  onChange: (verdicts: Verdicts<V>) => void
  isEditor: boolean
}

function Findings({ of, verdicts, onChange, isEditor }: Part<'right' | 'wrong'>) {
  if (of.findings.length === 0) return null
  return (
    <>
      <h3>Findings</h3>
      {of.findings.map(({ finding_id, severity, type, summary }) => (
        <div key={finding_id}>
          <p className={ui.row}>
            <Severity of={severity} /> <strong>{type.replaceAll('_', ' ')}</strong>
            <Choice
              name={type}
              values={['right', 'wrong']}
              chosen={verdicts[finding_id]}
              disabled={!isEditor}
              onChoose={(verdict) => onChange({ ...verdicts, [finding_id]: verdict })}
            />
          </p>
          <Plain>{summary}</Plain>
        </div>
      ))}
      {of.findings_total > of.findings.length && (
        <p className={ui.soft}>{of.findings_total - of.findings.length} more are in the task.</p>
      )}
    </>
  )
}

function Claims({ of, verdicts, onChange, isEditor }: Part<'supported' | 'contradicted'>) {
  if (of.claims.length === 0) return null
  return (
    <>
      <h3>Claims of the answer</h3>
      {of.claims.map(({ claim_id, text, verdict }) => (
        <div key={claim_id}>
          <LongText text={text} />
          <p className={ui.row}>
            <ClaimVerdict of={verdict} />
            <Choice
              name="claim"
              values={['supported', 'contradicted']}
              chosen={verdicts[claim_id]}
              disabled={!isEditor}
              onChoose={(chosen) => onChange({ ...verdicts, [claim_id]: chosen })}
            />
          </p>
        </div>
      ))}
    </>
  )
}

/** Two buttons of which one, or none, is chosen. */
function Choice<V extends string>({
  name,
  values,
  chosen,
  disabled,
  onChoose,
}: {
  name: string
  values: readonly V[]
  chosen: V | undefined
  disabled: boolean
  onChoose: (value: V | undefined) => void
}) {
  return values.map((value) => (
    <Button
      key={value}
      small
      look={chosen === value ? 'primary' : undefined}
      aria-pressed={chosen === value}
      aria-label={`${name}: ${value}`}
      disabled={disabled}
      onClick={() => onChoose(chosen === value ? undefined : value)}
    >
      {chosen === value ? '✓ ' : ''}
      {value}
    </Button>
  ))
}
