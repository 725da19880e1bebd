import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { faultsOf } from '../../api/problem.ts'
import type { VerificationEvidence, VerifiedClaim } from '../../api/schema.gen.d.ts'
import { useHasRole, useProjectId } from '../../session/project.ts'
import { AreaField, faultAt, SelectField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { formatShare } from '../../ui/format.ts'
import { Actor } from '../../ui/job.tsx'
import { Button, Time } from '../../ui/parts.tsx'
import { LongText, Plain } from '../../ui/text.tsx'
import { notify, notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { ClaimVerdict } from './trust.tsx'
import css from './verification.module.css'

/** One claim: the verdict, what each verifier found, its values, and the override of a person. */
export function ClaimDetail({ claim }: { claim: VerifiedClaim }) {
  const results = claim.results.filter(({ verdict }) => verdict !== 'skipped')
  return (
    <section className={ui.box} aria-label="Claim">
      <div className={ui.stack}>
        <div className={ui.row}>
          <ClaimVerdict of={claim.effective_verdict} />
          {claim.override !== null && (
            <span>
              by a person; the verifiers say <ClaimVerdict of={claim.verdict} />
            </span>
          )}
          {claim.probability !== null && (
            <span className={ui.soft}>{formatShare(claim.probability)} probability</span>
          )}
        </div>
        <LongText text={claim.text} />
        {results.length > 0 && <h4 className={css.small}>What the verifiers found</h4>}
        {results.map(({ verifier, verdict, note, method, confidence, evidence }) => (
          <div key={verifier}>
            <p className={ui.row}>
              <strong>{verifier}</strong> <ClaimVerdict of={verdict} />
              <span className={ui.soft}>
                {method}, {formatShare(confidence)} sure
              </span>
            </p>
            <Plain>{note}</Plain>
            <Evidence of={evidence} />
          </div>
        ))}
        <Values of={claim} />
        <Override claim={claim} />
      </div>
    </section>
  )
}

function Evidence({ of }: { of: readonly VerificationEvidence[] }) {
  const project_id = useProjectId()
  return (
    <ul>
      {of.map(({ kind, source, quote, at, place, document }) => (
        <li key={`${kind} ${source} ${at?.[0] ?? ''} ${quote.slice(0, 40)}`}>
          <blockquote className={css.quote}>
            <LongText text={quote} />
          </blockquote>
          <span className={ui.soft}>
            {kind}: <Plain>{source}</Plain>
            {document !== undefined && `, version ${document.version}`}
          </span>{' '}
          {place !== undefined && (
            <Link
              to="/p/$project_id/traces/$trace_id"
              params={{ project_id, trace_id: place.trace_id }}
              search={{ node: place.observation_id } as never}
            >
              Open the step
            </Link>
          )}
        </li>
      ))}
    </ul>
  )
}

function Values({ of: { values } }: { of: VerifiedClaim }) {
  if (values.length === 0) return null
  return (
    <>
      <h4 className={css.small}>Values</h4>
      <ul>
        {values.map(({ value, kind, verdict, derivation, reason, at }) => (
          <li key={at.join('-')}>
            <Plain>{value}</Plain> <span className={ui.soft}>({kind})</span>:{' '}
            {verdict.replaceAll('_', ' ')}
            {derivation !== null && (
              <>
                {', '}
                <Plain>{derivation}</Plain>
              </>
            )}
            {reason != null && `, ${reason.replaceAll('_', ' ')}`}
          </li>
        ))}
      </ul>
    </>
  )
}

const verdicts = [
  ['supported', 'supported'],
  ['contradicted', 'contradicted'],
] as const

function Override({ claim }: { claim: VerifiedClaim }) {
  const client = useQueryClient()
  const isEditor = useHasRole('editor')
  const [verdict, setVerdict] = useState<'supported' | 'contradicted'>('supported')
  const [reason, setReason] = useState('')
  const path = '/api/v1/verification/claims/{claim_id}/override'
  const params = { path: { claim_id: claim.claim_id } }
  const reload = async (text: string) => {
    notify(text)
    setReason('')
    await client.invalidateQueries({ queryKey: ['answer'] })
    await client.invalidateQueries({ queryKey: ['get'] })
  }
  const save = api.useMutation('post', path, {
    onSuccess: () => reload('Your verdict is saved. It also counts as a label.'),
  })
  const remove = api.useMutation('delete', path, {
    onSuccess: () => reload('The verdict of the person is removed.'),
    onError: notifyFault,
  })
  const faults = faultsOf(save.error)
  const submit = () => {
    save.mutate({ params, body: { verdict, reason } })
  }
  return (
    <>
      <h4 className={css.small}>Verdict of a person</h4>
      {claim.override !== null && (
        <div className={ui.row}>
          <ClaimVerdict of={claim.override.verdict} />
          <Plain>{claim.override.reason}</Plain>
          <Actor of={claim.override.created_by} />
          <Time at={claim.override.created_at} ago />
          <Button small disabled={!isEditor} onClick={() => remove.mutate({ params })}>
            Remove it
          </Button>
        </div>
      )}
      <Form
        of={save}
        action="Save the verdict"
        disabled={!isEditor}
        className={css.form}
        onSubmit={submit}
        beside={!isEditor && <span className={ui.soft}>Editors of the project give verdicts.</span>}
      >
        <SelectField
          label="Your verdict"
          value={verdict}
          options={verdicts}
          disabled={!isEditor}
          onChange={({ target }) =>
            setVerdict(target.value === 'supported' ? 'supported' : 'contradicted')
          }
        />
        <AreaField
          label="Reason"
          rows={2}
          required
          value={reason}
          disabled={!isEditor}
          fault={faultAt(faults, '/reason')}
          onChange={(event) => setReason(event.target.value)}
        />
      </Form>
    </>
  )
}
