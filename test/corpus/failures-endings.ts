import { failure, ill, type LabelledRun, loop } from './labelled-run.ts'

/** Runs that end before their work is done, or do not end. */
export const endingRuns: readonly LabelledRun[] = [
  ill(
    'the tests will be run, says the last message',
    [failure('premature_stop')],
    (run) =>
      run
        .system('You are a coding agent. Work until all is done.')
        .user('Fix the off-by-one in paging.js and run the tests.')
        .tool({ name: 'read_file', args: { path: 'paging.js' } }, 'i <= n')
        .tool({ name: 'edit_file', args: { path: 'paging.js', from: 'i <= n', to: 'i < n' } }, 'ok')
        .mark()
        .assistant('I have changed the loop. Now I will run the tests.'),
    { tools: ['read_file', 'edit_file', 'run_tests'] },
  ),
  ill(
    'a search is announced and does not come',
    [failure('premature_stop')],
    (run) =>
      run
        .system('You are a travel agent with tools.')
        .user('Find me a flight to Oslo on Friday and book it.')
        .mark()
        .assistant('Let me search for flights to Oslo on Friday.'),
    { tools: ['search_flights', 'book_flight'] },
  ),
  ill(
    'two of five files, and an end',
    [failure('premature_stop')],
    (run) =>
      run
        .user('Add the licence header to a.c, b.c, c.c, d.c and e.c.')
        .tool({ name: 'add_header', args: { file: 'a.c' } }, 'added')
        .tool({ name: 'add_header', args: { file: 'b.c' } }, 'added')
        .mark()
        .assistant('Next, I will add the header to c.c.'),
    { source: 'otlp', tools: ['add_header'] },
  ),
  ill(
    'an analysis that ends with its first step',
    [failure('premature_stop')],
    (run) =>
      run
        .system('You analyse logs with the tools at hand.')
        .user('Why did the nightly job fail?')
        .tool({ name: 'list_logs' }, 'nightly-1.log nightly-2.log')
        .mark()
        .assistant("I'll start by reading nightly-2.log to see where it failed:"),
    { tools: ['list_logs', 'read_log'], streamed: true },
  ),
]

const quick = { call_ms: 300, tool_ms: 50 }
const entry = (at: number) => `{"id":${at * 37 + 11},"name":"entry ${(at * 7919) % 1009}"}`

/** More steps, tokens, money or hours than planned. */
export const budgetRuns: readonly LabelledRun[] = [
  ill(
    'every product of a shop is opened',
    [loop('budget', 'none')],
    (run) =>
      run
        .system('You work through long lists.')
        .user('Check all products for a missing picture.')
        .times(125, (agent, at) =>
          agent.tool({ name: 'open_product', args: { id: at * 37 + 11 } }, entry(at)),
        )
        .assistant('Three have no picture.'),
    { tools: ['open_product'], ...quick },
  ),
  ill(
    'sixty changes, each with a test',
    [loop('budget', 'none')],
    (run) =>
      run
        .system('You are a coding agent.')
        .user('Port the sixty handlers to the new API.')
        .times(60, (agent, at) =>
          agent
            .tool({ name: 'edit', args: { file: `handler-${at}.ts` } }, `edited handler-${at}.ts`)
            .tool({ name: 'test', args: { only: `handler-${at}` } }, `${at + 3} passed`),
        )
        .assistant('All sixty are ported.'),
    { tools: ['edit', 'test'], streamed: true, ...quick },
  ),
  ill(
    'a talk of a hundred and ten turns',
    [loop('budget', 'none')],
    (run) =>
      run
        .system('You guess numbers between 1 and 500.')
        .times(110, (agent, at) => agent.user(`Not ${at * 4}.`).assistant(`Is it ${at * 4 + 4}?`)),
    quick,
  ),
  ill(
    'two agents side by side with sixty steps each',
    [loop('budget', 'none')],
    (run) =>
      run
        .user('Visit all streets of both towns.')
        .assistant({
          calls: [
            { name: 'agent', args: { n: 1 } },
            { name: 'agent', args: { n: 2 } },
          ],
        })
        .parallel(
          (one) =>
            one
              .system('Town A')
              .user('Count trees in A.')
              .times(60, (agent, at) =>
                agent.tool({ name: 'street', args: { a: at } }, `${at * 3 + 1} trees`),
              )
              .assistant('Many.'),
          (two) =>
            two
              .system('Town B')
              .user('Count trees in B.')
              .times(60, (agent, at) =>
                agent.tool({ name: 'street', args: { b: at } }, `${at * 5 + 2} trees`),
              )
              .assistant('Some.'),
        )
        .results(['Many.', 'Some.'])
        .assistant('A has more trees than B.'),
    { source: 'otlp', ...quick },
  ),
  ill(
    'a hundred and fifteen pages, told without content',
    [loop('budget', 'none')],
    (run) =>
      run
        .user('Which page is the oldest?')
        .times(115, (agent, at) => agent.tool({ name: 'fetch_page', args: { at } }, entry(at)))
        .assistant('Page 9.'),
    { source: 'otlp_no_content', ...quick },
  ),
  ill(
    'twelve million tokens',
    [failure('budget_exceeded', 'none')],
    (run) =>
      run
        .system('You read archives.')
        .user('Find the letter of 1911.')
        .times(13, (agent, at) =>
          agent
            .assistant({ calls: [{ name: 'open_box', args: { box: at } }], input_tokens: 950_000 })
            .results([`Box ${at}: bills of ${1_900 + at}`]),
        )
        .assistant({ text: 'It is in box 11.', input_tokens: 950_000 }),
    { tools: ['open_box'], provider: 'google', model: 'gemini-1.5-pro', may: ['context_overflow'] },
  ),
  ill(
    'thirty dollars of thought',
    [failure('budget_exceeded', 'none')],
    (run) =>
      run.user('Prove or refute the nine lemmas.').times(9, (agent, at) =>
        agent.tool({ name: 'lemma', args: { n: at } }, `Lemma ${at}: …`).assistant({
          text: `Lemma ${at} holds, as follows from the one before by case ${at + 2}.`,
          output_tokens: 90_000,
        }),
      ),
    { model: 'o1', tools: ['lemma'] },
  ),
  ill(
    'a task of two days',
    [failure('budget_exceeded', 'none')],
    (run) =>
      run
        .system('You watch an auction.')
        .user('Bid for the lamp, at most 80.')
        .times(5, (agent, at) =>
          agent
            .tool({ name: 'bid', args: { eur: 40 + at * 8 } }, `outbid at ${44 + at * 8}`)
            .wait(36_000_000),
        )
        .mark()
        .assistant('The lamp went for 84.'),
    // A bare number of two figures may be worked out: it is not checked.
    { source: 'otlp', tools: ['bid'], may: ['unsupported_value'] },
  ),
]
