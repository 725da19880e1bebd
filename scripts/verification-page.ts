import type {
  MethodFigures,
  SetFigures,
  Share,
  TierFigures,
  ValueFigures,
  VerificationFigures,
} from '../bench/verification/figures.ts'
import {
  minCalibrationLabels,
  trustFormula,
  verifierWeights,
} from '../src/capabilities/verification/trust/index.ts'

/** docs/reference/verification.md: how verdicts become a score, and how often they are right. */
export function verificationPage(figures: VerificationFigures): string {
  return [
    '# How often verification is right',
    '',
    'The figures are measured on answers and runs that one annotator, a language model, labelled claim by claim;',
    'there was no second annotator. The data are in `bench/verification/corpus`. Rules and weights are made on the tuning',
    'half. The blind half and the blind set of facts were written by annotators who had not read the code, and measured',
    'once; nothing was tuned to them, so their figures are the ones to trust. Those of the tuning half are too good.',
    '',
    'The blind half was measured again after the mending of 2026-11-29, whose rules were written from reports of errors on',
    'data of others and from the tuning half. The set of facts is **no longer quite blind**: its figures, but',
    'not its errors, were seen before the last rule about facts. Earlier blind halves belong to the tuning half now. The last of',
    'them (348 claims, earlier rules): supported 17 of 22 right (0.773) at a coverage of 0.063.',
    '',
    'A verbatim quote or a fact supports a claim. Words alone make it `likely`, which decides nothing. Weights that are',
    'fitted without one of the tuning sets have 98 of 103 claims of that set right (0.951) at a coverage of 0.05, from 9 of',
    '13 to 69 of 69 (`npm run bench:verification:fit`).',
    '',
    '## Measured by others, on their data',
    '',
    'Neither half is a sample of your agents. People who had not written the rules measured an earlier version on data of',
    'their own, on 2026-11-28. The rules were mended from these reports, so the figures say how far home data mislead,',
    'not how the rules of today do. They have not been measured there again.',
    '',
    '| figure | on data of others | at home then |',
    '|---|---|---|',
    '| AUC end to end, with claim length and shared figures as signs | 0.46 | 0.757 (tuning) |',
    '| AUC end to end, without these two signs | 0.59–0.68 | 0.701 (tuning), 0.778 (blind) |',
    '| false claims, given only their correction, that are `supported` at 0.9 | 12 of 80 | – |',
    '| flags on values that are right | 6 of 6 | 36 of 36 (tuning) |',
    '| invented values that are flagged | 5 of 54 | 36 of 204 (tuning) |',
    '| figures with one altered digit that are flagged | 2 of 347 | 95 of 3661 (tuning) |',
    '| claims about a fact of a subject called “Starter plan” that are decided | 6 of 22 | – |',
    '',
    '## Values of customer-service agents',
    '',
    'Each value of an answer without a source is listed, at least as low; medium is for values that are copied (ids, links,',
    'quotations, versions), slips, values of another subject, and amounts in an answer of which 95 % of the other values have',
    'a source. Mended on: 153 conversations that were written by hand, 114 of them healthy. Blind: others, which',
    'no mender has read; of 43 healthy conversations of a later, harder set 2 have a value at medium, and 10.0 % of their true',
    'values are listed.',
    '',
    '| figure | mended on | blind |',
    '|---|---|---|',
    '| true values that are listed, at least as low | 12.9 % (139 of 1,076) | 15.8 % (194 of 1,228) |',
    '| healthy conversations with a value at medium or above | 0 of 114 | 2 of 139 |',
    '| values with one altered digit that are listed | 93.1 % (877 of 942) | 91.2 % (968 of 1,061) |',
    '| replaced values that are listed | 96.2 % (906 of 942) | 97.1 % (1,030 of 1,061) |',
    '| conversations labelled as an altered value that have a finding there | 7 of 7 | 6 of 6 |',
    '| labelled cases of others: wanted flags that are listed (50 of 163 cases were seen) | 22 of 22 | not measured |',
    '| labelled cases of others: listed values that are right | 28 of 28 | not measured |',
    '',
    '`npm run bench:values -- FILE.jsonl` measures such conversations. `npm run bench:verification -- --set blind` measures a set; with `--write` it also writes this page.',
    '',
    ...setSection('Blind half', figures.blind),
    ...setSection('Structured facts, sums seen once', figures.facts),
    ...setSection('Tuning half: mended on', figures.tuning),
    ...modelSection,
    ...trustSection(),
  ].join('\n')
}

function setSection(title: string, set: SetFigures | undefined): string[] {
  if (set === undefined) return [`## ${title}`, '', 'Not measured yet.', '']
  const { date, extraction, tiers, values } = set
  return [
    `## ${title}`,
    '',
    `Measured ${date}.`,
    '',
    '### Verdicts on claims',
    '',
    'Precision: share of the verdicts that are right. Coverage: share of all claims that get the verdict. Brier',
    'score and ECE (expected calibration error, 10 bins) measure the stated confidence of both verdicts: lower is better.',
    '',
    '| tier | verifier | method | supported: precision | coverage | likely: labelled supported | coverage | contradicted: precision | coverage | Brier | ECE |',
    '|---|---|---|---|---|---|---|---|---|---|---|',
    ...tiers.flatMap((tier) => tier.methods.map((method) => methodRow(tier, method))),
    '',
    'AUC: probability that a supported claim is rated above another one, with retrieval (end to end) and with the',
    'labelled documents given.',
    '',
    '| tier | verifier | claims | AUC end to end | AUC evidence given | hit@1 | hit@5 |',
    '|---|---|---|---|---|---|---|',
    ...tiers.map(tierRow),
    '',
    ...(values === undefined ? [] : valuesSection(values)),
    '### Extraction of claims',
    '',
    '| figure | value |',
    '|---|---|',
    `| extracted claims that are labelled (precision) | ${percent(extraction.right)} |`,
    `| labelled claims that are extracted (recall) | ${percent(extraction.found)} |`,
    '',
  ]
}

function valuesSection(values: ValueFigures): string[] {
  return [
    '### Values that the agent did not see',
    '',
    '| figure | value |',
    '|---|---|',
    `| runs without an invented value that are flagged | ${percent(values.clean_runs_flagged)} |`,
    `| flags that are right (precision) | ${percent(values.flags_right)} |`,
    `| invented values that are flagged (recall) | ${percent(values.flags_found)} |`,
    ...(values.flags_listed === undefined
      ? []
      : [`| invented values that are listed, at least as low | ${percent(values.flags_listed)} |`]),
    `| figures with one altered digit that are listed | ${percent(values.altered_noticed)} |`,
    '',
  ]
}

function methodRow({ tier, verifier, claims }: TierFigures, figures: MethodFigures): string {
  const { method, supported_right, likely_right, contradicted_right, brier, ece } = figures
  const cells = [
    ...[tier, `\`${verifier}\``, method === 'all' ? '**all**' : `\`${method}\``],
    ...[supported_right, likely_right, contradicted_right].flatMap((right) => [
      precision(right),
      (right.of / claims).toFixed(3),
    ]),
    ...[decimal(brier), decimal(ece)],
  ]
  return `| ${cells.join(' | ')} |`
}

function tierRow(tier: TierFigures): string {
  const { verifier, claims, auc_end_to_end, auc_evidence_given, hit_1, hit_5 } = tier
  const cells = [
    ...[tier.tier, `\`${verifier}\``, String(claims)],
    ...[decimal(auc_end_to_end), decimal(auc_evidence_given)],
    ...[precision(hit_1), precision(hit_5)],
  ]
  return `| ${cells.join(' | ')} |`
}

const modelSection = [
  '## Verifiers with models and the web',
  '',
  'The figures above are those of `kb` without models. Judges, grounding models, embeddings, `multi_model`, `web` and',
  '`citation` depend on models, endpoints and pages outside Looptrace, so this page has no figures for them. `GET /api/v1/verification/calibration` has those of your',
  'project: Brier score and ECE of each verifier, measured by the verdicts of people.',
  '',
]

function trustSection(): string[] {
  const weights = Object.entries(verifierWeights).map(
    ([name, weight]) => `| \`${name}\` | ${weight} |`,
  )
  return [
    '## Trust score',
    '',
    `Formula \`${trustFormula}\`. The weighted log-odds of the verdicts on a claim are added; each confidence is limited to`,
    '0.5–0.99. The score is the mean of the probabilities that the claims are true, weighted by the greatest weight',
    'of the verifiers that decided the claim. A claim that is false with a probability of at least 0.8 limits the',
    'score to 0.4; a claim with a value that the agent did not see, or fewer than half of the claims decided, limits it',
    'to 0.7. The interval is that of Wilson with 95 % confidence. Without a decided claim there is no score.',
    '',
    '| verifier | weight |',
    '|---|---|',
    ...weights,
    '',
    'A stored run keeps its results and calibrations, so its score can be computed again, bit for bit:',
    '`POST /api/v1/verification/runs/{run_id}/recompute`, or [`looptrace trust recompute`](cli.md#looptrace-trust-recompute)',
    'without a service.',
    '',
    '## Calibration',
    '',
    `Each verdict of a person labels the results of the verifiers on its claim. With at least ${minCalibrationLabels} labels of a verifier,`,
    '`POST /api/v1/verification/calibration/fit` fits an isotonic regression from stated to measured confidence; with fewer',
    'labels the stated confidence is used and `calibrated` is false. At most as many labels of one person count as all',
    'others gave together, so no person gives more than half of them, and one alone calibrates nothing. The figures of',
    'a fit are those of ten-fold cross-validation. Later runs use the newest fit; a stored run keeps the one it used.',
    '',
  ]
}

function precision({ part, of }: Share): string {
  return of === 0 ? '–' : `${(part / of).toFixed(3)} (${part} of ${of})`
}

function percent({ part, of }: Share): string {
  return of === 0 ? '–' : `${((100 * part) / of).toFixed(1)} % (${part} of ${of})`
}

function decimal(value: number | null): string {
  return value === null ? '–' : value.toFixed(3)
}
