const WIDTH = 30;

/** Draws a progress bar on a terminal; does nothing elsewhere. */
export function showProgress(stream: NodeJS.WriteStream, label: string): (made: number, wanted: number) => void {
  if (!stream.isTTY) return () => undefined;
  return (made, wanted) => {
    const filled = Math.round((WIDTH * made) / wanted);
    const end = made === wanted ? '\n' : '';
    stream.write(`\r${label} ${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)} ${made}/${wanted} days${end}`);
  };
}
