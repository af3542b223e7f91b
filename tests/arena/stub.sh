# A player that takes any game and then does what its argument says when it is asked for a move.
newgame='"type":"result","of":"newgame","session":"match","game":"stub","rules":{},"options":{},"seed":"0","to_move":"p1"'
stats='{"nodes":0,"nps":0,"time_ms":0,"depth":0,"seldepth":0,"hash_ppm":0}'
timing='{"received_us":0,"started_us":0,"decided_us":0}'
seq=0

tell() {
    seq=$((seq + 1))
    echo "{\"seq\":$seq,\"t_us\":0,$1}"
}

answer() {
    line="{\"rank\":1,\"move\":\"$1\",\"pv\":[\"$1\"],\"depth\":1$2}"
    tell "\"type\":\"bestmove\",\"id\":\"$id\",\"reason\":\"limit\",\"move\":\"$1\",\"hash\":\"0\",\"lines\":[$line],\"stats\":$stats,\"timing\":$timing"
}

while read -r request; do
    id=${request#*\"id\":\"}
    id=${id%%\"*}
    case $request in
        *'"cmd":"newgame"'*)
            [ "$1" = refuse ] && tell "\"type\":\"error\",\"id\":\"$id\",\"line\":1,\"code\":\"game_unknown\",\"message\":\"never heard of it\",\"fatal\":false" \
                || tell "\"id\":\"$id\",$newgame"
            continue
            ;;
    esac
    case $1 in
        silent) ;;
        chatty) while :; do tell '"type":"notice","kind":"warning","message":"thinking"'; done ;;
        crash) exit 3 ;;
        close) exec >&- ;;
        garbage) echo "e2e4, perhaps" ;;
        wrong) tell "\"id\":\"$id\",$newgame" ;;
        error) tell "\"type\":\"error\",\"id\":\"$id\",\"line\":2,\"code\":\"internal\",\"message\":\"no idea\",\"fatal\":false" ;;
        deaf) tell "\"type\":\"error\",\"id\":null,\"line\":2,\"code\":\"bad_json\",\"message\":\"what?\",\"fatal\":false" ;;
        illegal) answer "1 1 N" ;;
        nonsense) answer "resign" ;;
        late) sleep 0.05; answer "4 3 W" ;;
        boast) answer "4 3 W" ',"score":{"bound":"exact","proof":{"outcome":"win","plies":1}}' ;;
    esac
done
