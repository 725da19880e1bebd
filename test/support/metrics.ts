/** The metrics of a process at one instant. A value is the sum over unnamed labels. */
export type MetricValues = (name: string, labels?: Readonly<Record<string, string>>) => number

/** Scrapes a management port. Rejects without an answer. */
export async function scrape(management_url: string): Promise<MetricValues> {
  const answer = await fetch(`${management_url}/metrics`)
  const samples = samplesOf(await answer.text())
  return (name, labels = {}) => {
    const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
    return samples
      .filter((sample) => sample.name === name)
      .filter((sample) => wanted.every((pair) => sample.labels.includes(pair)))
      .reduce((sum, sample) => sum + sample.value, 0)
  }
}

type Sample = { name: string; labels: string; value: number }

function samplesOf(text: string): Sample[] {
  return text.split('\n').flatMap((line) => {
    const match = /^([a-z_]+)(\{.*\})? (\S+)$/.exec(line)
    return match ? [{ name: match[1] ?? '', labels: match[2] ?? '', value: Number(match[3]) }] : []
  })
}
