import { useQuery } from '@tanstack/react-query'
import { call } from '../../api/client.ts'
import type { TraceVerification, VerifiedClaim } from '../../api/schema.gen.d.ts'
import { serverNow } from '../../api/server-clock.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { useProjectId } from '../../session/project.ts'
import { HereLink } from '../../ui/here-link.tsx'
import { classes } from '../../ui/parts.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { findAnswer, splitAnswer } from './answer-parts.ts'
import { ClaimDetail } from './claim-detail.tsx'
import { ClaimVerdict, signs } from './trust.tsx'
import css from './verification.module.css'

const claims_max = 1_000
const year_ms = 366 * 86_400_000

/** Reads the claims of a run, and the answer that they are in. */
function useAnswer({ trace_id, answer, run_id }: TraceVerification, chosen: string | undefined) {
  const project_id = useProjectId()
  return useQuery({
    queryKey: ['answer', project_id, trace_id, chosen ?? run_id],
    queryFn: async ({ signal }) => {
      const run = chosen === undefined ? {} : { run_id: chosen }
      const params = { path: { trace_id }, query: { limit: claims_max, ...run } }
      const { data } = await call.GET('/api/v1/verification/traces/{trace_id}/claims', {
        params,
        signal,
      })
      const claims = data?.claims ?? []
      const text = answer && (await readAnswer(trace_id, answer, claims))
      return { claims, text: text ?? undefined, total: data?.total ?? 0 }
    },
  })
}

async function readAnswer(
  trace_id: string,
  { observation_id, chars }: NonNullable<TraceVerification['answer']>,
  claims: readonly VerifiedClaim[],
): Promise<string | undefined> {
  const now_ms = serverNow()
  const { data } = await call.POST('/api/v2/observability/query', {
    body: {
      entity: 'observations',
      window: {
        from: new Date(now_ms - year_ms).toISOString(),
        to: new Date(now_ms + 86_400_000).toISOString(),
      },
      allow_wide: true,
      include_restored: false,
      where: {
        and: [
          { field: 'trace_id', op: 'eq', value: trace_id },
          { field: 'observation_id', op: 'eq', value: observation_id },
        ],
      },
      select: ['output'],
      limit: 1,
    },
  })
  const output = data?.rows[0]?.['output']
  return typeof output === 'string' ? findAnswer(output, chars, claims) : undefined
}

/** The answer with its claims marked; the chosen one is shown with its evidence. */
export function Answer({ verification }: { verification: TraceVerification }) {
  const [{ claim: chosen, run }] = useUrlState()
  const query = useAnswer(verification, run)
  return (
    <Loaded query={query} what="Reading the answer">
      {({ claims, text, total }) => {
        const claim = claims.find(({ claim_id }) => claim_id === chosen)
        if (claims.length === 0) return <Empty title="The answer has no claim" />
        return (
          <>
            <h3>The answer and its claims</h3>
            {text === undefined ? (
              <ClaimList claims={claims} chosen={chosen} />
            ) : (
              <p className={classes(ui.text, ui.box, css.answer)}>
                {splitAnswer(text, claims).map((part) =>
                  part.claim === undefined ? (
                    <Plain key={`t${part.key}`}>{part.text}</Plain>
                  ) : (
                    <ClaimLink key={part.key} claim={part.claim} isChosen={part.key === chosen} />
                  ),
                )}
              </p>
            )}
            {claims.length < total && (
              <p className={ui.soft}>
                The first {claims.length} of {total} claims are shown.
              </p>
            )}
            <p className={ui.row}>
              {[...new Set(claims.map(({ effective_verdict }) => effective_verdict))].map(
                (each) => (
                  <ClaimVerdict key={each} of={each} />
                ),
              )}
            </p>
            {claim === undefined ? (
              <p className={ui.soft}>Choose a claim to see its evidence.</p>
            ) : (
              <ClaimDetail key={claim.claim_id} claim={claim} />
            )}
          </>
        )
      }}
    </Loaded>
  )
}

function ClaimLink({ claim, isChosen }: { claim: VerifiedClaim; isChosen: boolean }) {
  const verdict = claim.effective_verdict
  return (
    <HereLink
      change={{ claim: claim.claim_id }}
      className={classes(css.claim, css[verdict], isChosen && css.chosen)}
      title={verdict.replaceAll('_', ' ')}
      aria-current={isChosen}
    >
      <span aria-hidden="true" className={css.sign}>
        {signs[verdict]}
      </span>
      <Plain>{claim.text}</Plain>
      <span className={ui.visuallyHidden}> ({verdict.replaceAll('_', ' ')})</span>
    </HereLink>
  )
}

/** The claims as a list, where the text of the answer is not recorded or has expired. */
function ClaimList({
  claims,
  chosen,
}: {
  claims: readonly VerifiedClaim[]
  chosen: string | undefined
}) {
  return (
    <>
      <p className={ui.soft}>The text around the claims is not recorded, or has expired.</p>
      <ul>
        {claims.map((claim) => (
          <li key={claim.claim_id}>
            <ClaimLink claim={claim} isChosen={claim.claim_id === chosen} />
          </li>
        ))}
      </ul>
    </>
  )
}
