import { Link } from '@tanstack/react-router'
import type { IncidentDetail, ResolvedEvidence } from '../../api/schema.gen.d.ts'
import { shownNumber } from '../../browser/shown-number.ts'
import { useProjectId } from '../../session/project.ts'
import { formatCount, formatShare } from '../../ui/format.ts'
import { Badge, Severity, Time } from '../../ui/parts.tsx'
import { LongText, Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { taskSearch, whereOf } from './evidence-links.ts'
import css from './incidents.module.css'

/** The evidence of an incident. Each finding leads to its step in the task. */
export function EvidenceList({ incident }: { incident: IncidentDetail }) {
  const { evidence, rule } = incident
  if (evidence.length === 0) {
    return (
      <p className={ui.soft}>
        No evidence is stored. The rule <Plain>{rule}</Plain> measured a signal; its calls were
        deleted by retention, or it fired for silence.
      </p>
    )
  }
  return (
    <ul className={css.list}>
      {evidence.map((one, at) => (
        <Evidence key={keyOf(one, at)} of={one} signal={incident.signal} />
      ))}
    </ul>
  )
}

function keyOf({ kind, id, at }: ResolvedEvidence, index: number): string {
  return `${kind} ${id ?? ''} ${at} ${index}`
}

const kinds: Record<ResolvedEvidence['kind'], string> = {
  finding: 'Finding',
  trace: 'Call',
  task: 'Task',
  value: 'Measured value',
  ledger: 'Ledger entry',
  verification: 'Verification',
}

function Evidence({ of, signal }: { of: ResolvedEvidence; signal: string }) {
  const { finding, kind, value, samples, summary } = of
  const text = finding?.summary ?? summary
  return (
    <li className={css.evidence}>
      <div className={ui.row}>
        <strong>{kinds[kind]}</strong>
        {finding !== null && <Severity of={finding.severity} />}
        {(finding?.type ?? of.type) !== undefined && (
          <Badge>{(finding?.type ?? of.type ?? '').replaceAll('_', ' ')}</Badge>
        )}
        {finding !== null && finding.state !== 'open' && <Badge tone="info">{finding.state}</Badge>}
        {finding !== null && (
          <span className={ui.soft}>confidence {formatShare(finding.confidence)}</span>
        )}
        <span className={ui.soft}>
          <Time at={of.at} />
        </span>
      </div>
      {text !== undefined && <LongText text={text} />}
      {text === undefined && value !== null && value !== undefined && (
        <p>
          <Plain>{signal}</Plain> is <strong>{String(value)}</strong>
          {samples !== undefined && <> over {formatCount(samples)} samples</>}
        </p>
      )}
      {kind === 'finding' && finding === null && (
        <p className={ui.soft}>The finding was deleted since.</p>
      )}
      <EvidenceLinks of={of} />
    </li>
  )
}

function EvidenceLinks({ of }: { of: ResolvedEvidence }) {
  const project_id = useProjectId()
  const { task_id, trace_id, step } = whereOf(of)
  if (task_id === undefined && trace_id === undefined) return null
  return (
    <div className={ui.row}>
      {task_id !== undefined && (
        <Link
          to="/p/$project_id/tasks/$task_id"
          params={{ project_id, task_id }}
          search={taskSearch(of) as never}
        >
          {step === undefined ? 'Open task ' : `Open step ${shownNumber(step)} of task `}
          <Plain>{task_id}</Plain>
        </Link>
      )}
      {trace_id !== undefined && (
        <Link to="/p/$project_id/traces/$trace_id" params={{ project_id, trace_id }}>
          Open the trace
        </Link>
      )}
    </div>
  )
}
