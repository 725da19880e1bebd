import { context, failure, ill, type LabelledRun } from './labelled-run.ts'

const rules = 'You are a tax clerk. Quote the paragraph. All amounts are in Swiss francs.'
const tooLong = {
  status: 400,
  type: 'context_length_exceeded',
  message:
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 131207 tokens.",
}

function chat(questions: readonly string[], answers: readonly string[]) {
  return questions.map((question, at) => ({ question, answer: answers[at] ?? 'Yes.' }))
}

const talk = chat(
  [
    'My canton is Uri and I have two children.',
    'May I deduct the train?',
    'And the bicycle?',
    'What about lunch?',
  ],
  [
    'Noted. What would you like to know?',
    'Yes, § 26: the train is deducted.',
    '§ 26: 700 francs a year.',
    '§ 26: 15 francs a day.',
  ],
)

/** Histories that were cut, filled up or dropped. */
export const historyRuns: readonly LabelledRun[] = [
  ill('the oldest messages fall out of the window', [context('context_truncated')], (run) => {
    run.system(rules)
    for (const { question, answer } of talk) run.user(question).assistant(answer)
    return run
      .truncate(4)
      .user('How much do I save for my children?')
      .mark()
      .assistant('That depends on your canton and on how many children you have.')
  }),
  ill(
    'a tool agent loses its task',
    [context('context_truncated')],
    (run) =>
      run
        .system('You are a coding agent.')
        .user('Rename Cart to Basket everywhere, but leave the file legacy.ts alone.')
        .tool({ name: 'grep', args: { text: 'Cart' } }, 'a.ts:1 b.ts:4 legacy.ts:9')
        .tool({ name: 'edit', args: { file: 'a.ts' } }, 'edited a.ts')
        .truncate(3)
        .mark()
        .tool({ name: 'edit', args: { file: 'b.ts' } }, 'edited b.ts')
        .tool({ name: 'edit', args: { file: 'legacy.ts' } }, 'edited legacy.ts')
        .assistant('All three files are changed.'),
    { tools: ['grep', 'edit'] },
  ),
  ill(
    'only the last two messages are kept',
    [context('context_truncated')],
    (run) =>
      run
        .user('Let us write a poem. It is about my cat Mimi, who is grey.')
        .assistant('Mimi, grey as morning mist, sits upon the garden wall.')
        .user('A second line, please.')
        .assistant('Every bird upon her list knows her quiet, patient call.')
        .truncate(2)
        .user('And now her colour again in line three.')
        .mark()
        .assistant('Her coat is brown as autumn leaves.'),
    { source: 'otlp', may: ['contradicted_fact'] },
  ),
  ill(
    'the window slides with every turn',
    [context('context_truncated')],
    (run) => {
      run
        .system('You keep a shopping list.')
        .user('Put milk and bread on it.')
        .assistant('Milk, bread.')
      run.user('And apples.').assistant('Milk, bread, apples.').truncate(2).user('And tea.').mark()
      run.assistant('Apples, tea.').truncate(2).user('Read it to me.')
      return run.assistant('On the list: tea.')
    },
    { streamed: true },
  ),
  ill(
    'a prompt fills nine tenths of the window',
    [context('context_overflow')],
    (run) =>
      run
        .system('You summarise contracts.')
        .user('The contract is attached. Which clauses are unusual?')
        .mark()
        .assistant({ text: 'Clause 14 is unusual.', input_tokens: 118_000 }),
    { model: 'gpt-4o' },
  ),
  ill(
    'the provider says the prompt is too long',
    [context('context_overflow')],
    (run) =>
      run
        .user('Read all of it.')
        .tool({ name: 'read_all' }, 'much text')
        .assistant({ error: tooLong }),
    { tools: ['read_all'], may: ['provider_bad_request'] },
  ),
  ill(
    'an agent grows into the wall, step by step',
    [context('context_overflow')],
    (run) => {
      run.system('You crawl sites.').user('Collect all prices.')
      for (const [at, tokens] of [20_000, 48_000, 77_000, 99_000].entries()) {
        run.assistant({ calls: [{ name: 'crawl', args: { page: at } }], input_tokens: tokens })
        run.results([`prices of page ${at}`])
      }
      run.mark().assistant({ calls: [{ name: 'crawl', args: { page: 4 } }], input_tokens: 123_500 })
      return run.results(['prices of page 4']).assistant({ error: tooLong })
    },
    { tools: ['crawl'], may: ['provider_bad_request'] },
  ),
  ill(
    'a small window is full, told without content',
    [context('context_overflow')],
    (run) =>
      run
        .user('A')
        .assistant({ text: 'b', input_tokens: 3_000 })
        .user('C')
        .mark()
        .assistant({ text: 'd', input_tokens: 7_900 }),
    { source: 'otlp_no_content', model: 'gpt-4' },
  ),
  ill(
    'a chat begins anew in the middle',
    [context('conversation_reset')],
    (run) =>
      run
        .system('You help with gardens.')
        .user('My tomatoes have brown spots. It has rained for two weeks.')
        .assistant('That sounds like blight. Are the leaves affected too?')
        .user('Yes, the lower ones.')
        .assistant('Cut them off and keep the rest dry.')
        .reset()
        .system('You help with gardens.')
        .user('Should I spray them as well?')
        .mark()
        .assistant('What would you like to spray?'),
    { may: ['context_truncated', 'lost_context', 'repeated_question'] },
  ),
  ill(
    'a worker restarts without its history',
    [context('conversation_reset')],
    (run) =>
      run
        .system('You are the release agent.')
        .user('Release 3.2: build, sign, publish.')
        .tool({ name: 'build' }, 'built 3.2')
        .tool({ name: 'sign' }, 'signed 3.2')
        .reset()
        .system('You are the release agent.')
        .user('Continue.')
        .mark()
        .assistant('What should I continue with?'),
    {
      tools: ['build', 'sign', 'publish'],
      may: ['context_truncated', 'lost_context', 'premature_stop'],
    },
  ),
  ill(
    'nothing is left but the last question',
    [context('conversation_reset')],
    (run) =>
      run
        .user('Ich heiße Jonas und wohne in Ulm.')
        .assistant('Guten Tag, Jonas. Was kann ich für Sie tun?')
        .user('Ich suche einen Zahnarzt in meiner Nähe.')
        .assistant('In Ulm gibt es zwölf Praxen.')
        .reset()
        .user('Welche davon hat am Samstag offen?')
        .mark()
        .assistant('Welche Praxen meinen Sie?'),
    { source: 'otlp', may: ['context_truncated', 'lost_context', 'repeated_question'] },
  ),
  ill(
    'a gateway forgets the session',
    [context('conversation_reset')],
    (run) =>
      run
        .system('You are a chess partner. You play black.')
        .user('e4')
        .assistant('e5')
        .user('Nf3')
        .assistant('Nc6')
        .user('Bb5')
        .assistant('a6')
        .reset()
        .system('You are a chess partner. You play black.')
        .user('Ba4')
        .mark()
        .assistant('Please tell me the position first.'),
    { streamed: true, may: ['context_truncated', 'lost_context', 'repeated_question'] },
  ),
  ill(
    'a limit and an overflow at once',
    [context('context_overflow'), failure('output_truncated')],
    (run) =>
      run
        .system('You translate books.')
        .user('Translate the whole of chapter 9.')
        .mark()
        .assistant({
          text: 'Kapitel 9. Es war einmal ein',
          finish_reason: 'length',
          input_tokens: 126_000,
        }),
    { model: 'gpt-4o-mini' },
  ),
]
