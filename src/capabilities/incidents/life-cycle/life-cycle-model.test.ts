import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { modelIncidents } from '../../../../test/support/incidents/incident-model.ts'
import { keyHistories } from '../../../../test/support/incidents/key-arbitrary.ts'
import {
  nameMark,
  nameMessage,
  readKeyExample,
  statusOf,
} from '../../../../test/support/incidents/key-example.ts'
import {
  lifeCycleExamples,
  messageExamples,
} from '../../../../test/support/incidents/key-examples.ts'
import { playKey } from '../../../../test/support/incidents/key-player.ts'
import { modelMessages } from '../../../../test/support/incidents/message-model.ts'
import { fuzzRuns } from '../../../../test/support/suite/budget.ts'

/** Histories of a dedup key; 20,000 agreed when the code was joined to the model. */
const histories = fuzzRuns(500)

describe('the life-cycle of incidents', () => {
  const examples = [...lifeCycleExamples, ...messageExamples]
  test.each(examples.map((example) => [example.sentence, example] as const))('%s', (_, example) => {
    const { marks, messages, answers } = playKey(readKeyExample(example))
    const found = {
      marks: example.marks && marks.map(nameMark),
      messages: example.messages && messages.map(nameMessage),
      answers: example.answers && answers.map(statusOf),
    }
    const { marks: changes, messages: sent, answers: statuses } = example
    expect(found).toEqual({ marks: changes, messages: sent, answers: statuses })
  })

  test('incidents of a key change as in the model that reads the whole history', () => {
    fc.assert(
      fc.property(keyHistories, (history) => {
        const { marks, answers, messages } = playKey(history)
        expect({ marks, answers }).toEqual(modelIncidents(history))
        expect(messages).toEqual(modelMessages(history))
      }),
      { numRuns: histories },
    )
  })
})
