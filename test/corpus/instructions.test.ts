import { expect, test } from 'vitest'
import type { LabelledConversation } from '../../bench/detection/instructions/conversation.ts'
import { scoreConversations } from '../../bench/detection/instructions/score.ts'
import { readRecords } from '../../bench/verification/packed-records.ts'

const file = 'bench/detection/corpus/instructions/tuning.jsonl.gz'

test('broken instructions of the tuning conversations are found, and few others', () => {
  const conversations = readRecords<LabelledConversation>(file)
  const { all, errors } = scoreConversations(conversations)
  const text = JSON.stringify(errors, null, 1)
  expect(conversations.length).toBe(202)
  expect(all.found + all.missed, text).toBe(88)
  expect(all.found, text).toBeGreaterThanOrEqual(84)
  expect(all.wrong, text).toBeLessThanOrEqual(3)
})

test('the score counts a missed, a found and a wrong breach', () => {
  const conversation = (broken: number[], answer: string): LabelledConversation => ({
    id: answer,
    style: 'system',
    lang: 'en',
    messages: [
      { role: 'system', content: 'Never use emojis.' },
      { role: 'user', content: 'How are you?' },
      { role: 'assistant', content: answer },
    ],
    constraints: [
      {
        text: 'Never use emojis',
        message: 0,
        kind: 'no_emoji',
        params: {},
        scope: 'lasting',
        ended_by: null,
      },
    ],
    broken,
  })
  const scored = scoreConversations([
    conversation([0], 'Fine 🙂'),
    conversation([0], 'Fine.'),
    conversation([], 'Good 🙂'),
  ])
  expect(scored.all).toEqual({ found: 1, missed: 1, wrong: 1 })
  expect(scored.kinds.get('no_emoji')).toEqual({ found: 1, missed: 1, wrong: 1 })
  expect(scored.errors.map(({ error }) => error)).toEqual(['missed', 'wrong'])
})
