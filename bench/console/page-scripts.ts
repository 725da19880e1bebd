/** What one measurement of frames gives, in ms. */
export type Frames = { p95_ms: number; dom_rows: number; long_tasks_ms: number }

/** Runs in each page before its own scripts: notes when the first row of a tree is in the page. */
export const noteFirstRow = `
  new MutationObserver((_, observer) => {
    if (document.querySelector('[role="treeitem"]') === null) return
    observer.disconnect()
    requestAnimationFrame(() => { window.firstRowAt = performance.now() })
  }).observe(document, { subtree: true, childList: true })`

/** Returns a script that measures the frames of a page, with a statement that runs in each frame. */
export function measureFramesScript(seconds: number, row: string, eachFrame: string): string {
  return `new Promise((done) => {
    const [times, long] = [[], []]
    const observer = new PerformanceObserver((list) => long.push(...list.getEntries()))
    observer.observe({ type: 'longtask' })
    let [most, before, started] = [0, undefined, performance.now()]
    const step = (now) => {
      if (before !== undefined) times.push(now - before)
      before = now
      ${eachFrame}
      most = Math.max(most, document.querySelectorAll('${row}').length)
      if (performance.now() - started < ${seconds * 1000}) return requestAnimationFrame(step)
      setTimeout(() => {
        observer.disconnect()
        const sorted = times.toSorted((one, other) => one - other)
        done({
          p95_ms: sorted[Math.floor(sorted.length * 0.95)],
          dom_rows: most,
          long_tasks_ms: long.reduce((sum, { duration }) => sum + duration, 0),
        })
      }, 100)
    }
    requestAnimationFrame(step)
  })`
}

/** Returns the time of the request of an outline, of its answer, and of the first row; in ms. */
export const outlineTimesScript = `(() => {
  const asked = performance.getEntriesByType('resource').find(({ name }) =>
    name.includes('view=outline'))
  return {
    fetch_ms: asked.responseEnd - asked.startTime,
    drawn_ms: window.firstRowAt - asked.startTime,
  }
})()`

/** Returns the first contentful paint of a page in ms, as soon as there is one. */
export const firstPaintScript = `new Promise((done) => {
  new PerformanceObserver((list) => {
    const entry = list.getEntriesByName('first-contentful-paint')[0]
    if (entry !== undefined) done(entry.startTime)
  }).observe({ type: 'paint', buffered: true })
})`
