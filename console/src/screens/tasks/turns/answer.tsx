import type { Turn, TurnClaim } from '../../../api/schema.gen.d.ts'
import { formatNumberOf, formatShare } from '../../../ui/format.ts'
import { Badge, classes, type Tone } from '../../../ui/parts.tsx'
import { LongText, Plain } from '../../../ui/text.tsx'
import ui from '../../../ui/ui.module.css'
import { type ClaimPart, splitClaims } from './claim-parts.ts'
import { Content } from './content.tsx'
import { Fold } from './fold.tsx'
import css from './turns.module.css'
import { useTurnView } from './view.ts'

const verdicts: Record<TurnClaim['verdict'], { word: string; tone?: Tone; line?: string }> = {
  supported: { word: 'supported', tone: 'good', line: css['supported'] ?? '' },
  likely: { word: 'likely', tone: 'good', line: css['likely'] ?? '' },
  contradicted: { word: 'contradicted', tone: 'bad', line: css['contradicted'] ?? '' },
  not_found: { word: 'not found in the sources', tone: 'warn', line: css['notFound'] ?? '' },
  unverifiable: { word: 'cannot be checked', line: css['unchecked'] ?? '' },
  skipped: { word: 'skipped', line: css['unchecked'] ?? '' },
}

/** The answer of a call. Claims are underlined; a list below says what is known about each. */
export function Answer({ turn }: { turn: Turn }) {
  const { isTalkOnly } = useTurnView()
  const { answer, verification } = turn
  if (answer === null) return null
  const { text, reasoning, refused, partial } = answer
  const hasClaims = verification !== null && verification.of_this_text !== false
  return (
    <>
      {reasoning !== null && !isTalkOnly && (
        <Fold name={`r${turn.turn}`} title={<span className={ui.soft}>Reasoning</span>}>
          {() => <Content of={reasoning} />}
        </Fold>
      )}
      {(refused || partial) && (
        <p>
          {refused && <Badge tone="warn">refused</Badge>}{' '}
          {partial && <Badge tone="warn">cut off before its end</Badge>}
        </p>
      )}
      {text !== null && text.text !== '' && (
        <div className={css.message}>
          <div className={css.role}>Agent</div>
          <div className={css.said}>
            {hasClaims ? (
              <ClaimedText parts={splitClaims(text.text, verification.claims)} />
            ) : (
              <LongText text={text.text} />
            )}
            {text.cut && <p className={ui.soft}>The rest of the answer is not shown.</p>}
          </div>
        </div>
      )}
      {verification !== null && <Claims turn={turn} />}
    </>
  )
}

function ClaimedText({ parts }: { parts: readonly ClaimPart[] }) {
  return (
    <p className={ui.text}>
      {parts.map(({ at, text, claims }) => {
        const [claim] = claims
        if (claim === undefined) return <Plain key={at}>{text}</Plain>
        const { word, line } = verdicts[claim.verdict]
        return (
          <span key={at} className={classes(css.claim, line)} title={word}>
            <Plain>{text}</Plain>
          </span>
        )
      })}
    </p>
  )
}

function Claims({ turn: { turn, verification } }: { turn: Turn }) {
  if (verification === null) return null
  const { claims, claims_total, trust_score, of_this_text } = verification
  const bad = claims.filter(({ verdict }) => verdict === 'contradicted').length
  const title = (
    <>
      {formatNumberOf(claims_total, 'claim')}
      {trust_score !== null && <Badge>trust {formatShare(trust_score)}</Badge>}
      {bad > 0 && <Badge tone="bad">{bad} contradicted</Badge>}
    </>
  )
  return (
    <Fold name={`c${turn}`} title={title}>
      {() => (
        <>
          {of_this_text === false && (
            <p className={ui.soft}>The answer has changed since it was verified.</p>
          )}
          <ul className={css.claims}>
            {claims.map(({ claim_id, text, verdict, probability }) => (
              <li key={claim_id}>
                <Badge tone={verdicts[verdict].tone}>{verdicts[verdict].word}</Badge>{' '}
                <Plain>{text}</Plain>
                {probability !== null && (
                  <span className={ui.soft}> {formatShare(probability)} likely true</span>
                )}
              </li>
            ))}
          </ul>
        </>
      )}
    </Fold>
  )
}
