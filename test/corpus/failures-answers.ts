import { failure, ill, type LabelledRun } from './labelled-run.ts'

/** Empty or partial answers. */
export const answerRuns: readonly LabelledRun[] = [
  ill('a report that stops in the middle of a row', [failure('output_truncated')], (run) =>
    run.system('You write reports as JSON.').user('All twelve months, please.').mark().assistant({
      text: '{"months":[{"m":1,"sum":120},{"m":2,"sum":98},{"m":3,"su',
      finish_reason: 'length',
    }),
  ),
  ill(
    'a contract that ends in paragraph four',
    [failure('output_truncated')],
    (run) =>
      run
        .user('Entwirf einen Mietvertrag.')
        .tool({ name: 'vorlage_lesen' }, 'Mietvertrag: §1 …')
        .mark()
        .assistant({
          text: '§1 Mietsache\n…\n§4 Die Kaution beträgt drei',
          finish_reason: 'max_tokens',
        }),
    {
      streamed: true,
      provider: 'anthropic',
      model: 'claude-3-5-sonnet-20241022',
      tools: ['vorlage_lesen'],
    },
  ),
  ill(
    'a program without its end',
    [failure('output_truncated')],
    (run) =>
      run
        .user('Write a parser for INI files in Go.')
        .mark()
        .assistant({
          text: 'package ini\n\nfunc Parse(s string) map[string]string {\n\tfor _, line := ra',
          finish_reason: 'length',
        })
        .user('ok, leave it, bye'),
    { source: 'otlp' },
  ),
  ill(
    'an answer that the filter takes',
    [failure('content_filter')],
    (run) =>
      run
        .user('Write a scene of a duel.')
        .mark()
        .assistant({ text: '', finish_reason: 'content_filter' }),
    { may: ['empty_completion'] },
  ),
  ill(
    'half an answer, then the filter',
    [failure('content_filter')],
    (run) =>
      run
        .system('You narrate a game.')
        .user('I attack the guard.')
        .mark()
        .assistant({ text: 'You draw your sword and', finish_reason: 'SAFETY' }),
    { provider: 'google', model: 'gemini-1.5-flash', may: ['empty_completion'] },
  ),
  ill(
    'a filter told by a span',
    [failure('content_filter')],
    (run) =>
      run
        .user('Résume ce fait divers.')
        .mark()
        .assistant({ text: '', finish_reason: 'content_filter' }),
    { source: 'otlp', may: ['empty_completion'] },
  ),
  ill(
    'a refusal in its own field',
    [failure('refusal')],
    (run) =>
      run
        .user('Who of my colleagues earns too much?')
        .mark()
        .assistant({ refusal: "I'm sorry, I can't help with that." }),
    { may: ['empty_completion'] },
  ),
  ill(
    'a refusal in words',
    [failure('refusal')],
    (run) =>
      run
        .system('You are a helpful assistant.')
        .user('Write a complaint to my landlord.')
        .mark()
        .assistant("I'm sorry, but I can't assist with that request."),
    { model: 'gpt-4o' },
  ),
  ill(
    'a refusal after the tools had run',
    [failure('refusal')],
    (run) =>
      run
        .user('Summarise the incident report for the board.')
        .tool({ name: 'read_report' }, 'A customer was hurt by a falling shelf.')
        .mark()
        .assistant('I cannot help with this request.'),
    { source: 'otlp', tools: ['read_report'] },
  ),
  ill(
    'a refusal in German',
    [failure('refusal')],
    (run) =>
      run
        .user('Schreib mir ein Gedicht über Wölfe.')
        .mark()
        .assistant({ refusal: 'Dabei kann ich leider nicht helfen.', text: '' }),
    { streamed: true, may: ['empty_completion'] },
  ),
  ill('nothing is answered', [failure('empty_completion')], (run) =>
    run.user('What is the capital of Peru?').mark().assistant({ text: '' }),
  ),
  ill(
    'nothing is answered after a tool',
    [failure('empty_completion')],
    (run) =>
      run
        .user('How warm is it in Kyoto?')
        .tool({ name: 'get_weather', args: { city: 'Kyoto' } }, '{"c":21}')
        .mark()
        .assistant({ text: '' }),
    { streamed: true, tools: ['get_weather'] },
  ),
  ill(
    'blanks for an answer',
    [failure('empty_completion')],
    (run) =>
      run
        .system('Antworte kurz.')
        .user('Warum ist der Himmel blau?')
        .mark()
        .assistant({ text: ' \n\n ' }),
    { model: 'gpt-4o' },
  ),
  ill(
    'an empty answer told by a span',
    [failure('empty_completion')],
    (run) => run.user('Name three rivers.').mark().assistant({ text: '', output_tokens: 0 }),
    { source: 'otlp_openinference' },
  ),
]
