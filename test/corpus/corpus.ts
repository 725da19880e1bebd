import { valueRuns } from './claims-values.ts'
import { factRuns } from './context-facts.ts'
import { historyRuns } from './context-history.ts'
import { lostContextRuns } from './context-lost.ts'
import { answerRuns } from './failures-answers.ts'
import { callRuns } from './failures-calls.ts'
import { claimRuns } from './failures-claims.ts'
import { budgetRuns, endingRuns } from './failures-endings.ts'
import { providerRuns } from './failures-provider.ts'
import { toolRuns } from './failures-tools.ts'
import { codingRuns } from './healthy-coding.ts'
import { hardHealthyRuns } from './healthy-hard.ts'
import { longHealthyRuns } from './healthy-long.ts'
import { proseRuns } from './healthy-prose.ts'
import { conversationRuns } from './healthy-talk.ts'
import { trapRuns } from './healthy-traps.ts'
import { waitingRuns } from './healthy-waiting.ts'
import { workRuns } from './healthy-work.ts'
import { hardRuns } from './ill-hard.ts'
import { moreRuns } from './ill-more.ts'
import { summaryRuns } from './ill-summaries.ts'
import { wordRuns } from './ill-words.ts'
import type { LabelledRun } from './labelled-run.ts'
import { cycleRuns } from './loops-cycle.ts'
import { errorStreakRuns } from './loops-error-streak.ts'
import { harnessRuns } from './loops-harness.ts'
import { repeatCallRuns } from './loops-repeat-call.ts'
import { repeatErrorRuns } from './loops-repeat-error.ts'
import { scatteredRuns } from './loops-scattered.ts'
import { similarRuns } from './loops-similar.ts'
import { chantRuns, talkRuns } from './loops-talk.ts'
import { mixedRuns } from './mixed.ts'

/** All labelled runs, by family. */
export const corpus: readonly LabelledRun[] = [
  ...repeatCallRuns,
  ...repeatErrorRuns,
  ...cycleRuns,
  ...errorStreakRuns,
  ...scatteredRuns,
  ...similarRuns,
  ...talkRuns,
  ...chantRuns,
  ...harnessRuns,
  ...budgetRuns,
  ...providerRuns,
  ...answerRuns,
  ...callRuns,
  ...toolRuns,
  ...endingRuns,
  ...claimRuns,
  ...lostContextRuns,
  ...factRuns,
  ...historyRuns,
  ...valueRuns,
  ...hardRuns,
  ...moreRuns,
  ...summaryRuns,
  ...wordRuns,
  ...waitingRuns,
  ...codingRuns,
  ...proseRuns,
  ...conversationRuns,
  ...workRuns,
  ...hardHealthyRuns,
  ...longHealthyRuns,
  ...trapRuns,
  ...mixedRuns,
]
