<?php // Verifies the manifest of a day offline, as verify-day.mjs does. Needs PHP 8 with sodium alone.
//   php verify-day.php manifest.json key.txt ids.txt kept.txt
$require = fn(bool $holds, string $says, int $code = 2) => $holds || fwrite(STDERR, "$says\n") && exit($code);
$require(count($argv) === 5, 'usage: php verify-day.php manifest.json key.txt ids.txt kept.txt');
set_exception_handler(fn(Throwable $fault) => $require(false, "cannot be checked: {$fault->getMessage()}", 3));
[$manifest, $vkey, $ids, $kept] = array_map('file_get_contents', array_slice($argv, 1, 4));
$hash = fn(string $bytes) => hash('sha256', $bytes, true);
$answer = json_decode($manifest, true, flags: JSON_THROW_ON_ERROR);
['payload' => $payload, 'proof' => $proof] = $answer['data'] ?? $answer;
$proof ?? throw new Exception('there is no proof yet');
$statement = base64_decode(strtr($payload, '-_', '+/'));
[$head, $text, $signatures] = explode("\n\n", $proof);
[, $index, $path] = [...explode("\n", $head, 3), ''];
[$origin, $size, $root] = explode("\n", $text);
// the log signed the checkpoint
[$name, $id, $base64] = explode('+', trim($vkey), 3);
$lines = array_map(fn($line) => explode(' ', $line), explode("\n", trim($signatures)));
$own = array_map(fn($line) => base64_decode($line[2]), array_filter($lines, fn($line) => $line[1] === $name));
$signed = array_values(array_filter($own, fn($bytes) => bin2hex(substr($bytes, 0, 4)) === $id))[0] ?? '';
$key = substr(base64_decode($base64), 1);
$require($origin === $name && strlen($signed) === 68, 'not signed by the log');
$require(sodium_crypto_sign_verify_detached(substr($signed, 4), "$text\n", $key), 'not signed by the log');
// the statement is in the tree of the checkpoint (RFC 9162, section 2.1.3.2)
[$at, $last, $found] = [(int) substr($index, strlen('index ')), $size - 1, $hash("\0$statement")];
$require($at <= $last, 'not in the log');
foreach (array_map('base64_decode', $path === '' ? [] : explode("\n", $path)) as $sibling) {
    $require($last > 0, 'not in the log');
    $isRight = $at % 2 === 1 || $at === $last;
    $found = $hash($isRight ? "\1$sibling$found" : "\1$found$sibling");
    while ($isRight && $at % 2 === 0 && $at > 0) [$at, $last] = [$at >> 1, $last >> 1];
    [$at, $last] = [$at >> 1, $last >> 1];
}
$require($last === 0 && $found === base64_decode($root), 'not in the log');
// the ids are those of the statement
$require(bin2hex($hash($ids)) === json_decode($statement, true)['ids_sha256'], 'not the ids of this manifest');
$missing = array_diff(preg_split('/\s+/', $ids, flags: PREG_SPLIT_NO_EMPTY), preg_split('/\s+/', $kept));
echo implode("\n", array_map(fn($one) => "missing $one", $missing)) ?: 'nothing is missing', "\n";
exit($missing ? 1 : 0);
